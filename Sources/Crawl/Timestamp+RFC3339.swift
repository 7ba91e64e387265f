extension Timestamp {
    /// The first and the last moment that RFC 3339 can write: its years have four digits.
    private static let writable: ClosedRange<Int64> = -62_135_596_800_000...253_402_300_799_999

    /// In UTC with milliseconds: `2026-03-01T12:00:00.250Z`. Moments outside the years 1 to 9999 are written as the
    /// nearest one inside.
    public var rfc3339: String {
        let clamped = min(max(milliseconds, Self.writable.lowerBound), Self.writable.upperBound)
        let (day, inDay) = clamped.dividedFloor(by: 86_400_000)
        let date = Self.date(ofDay: day)
        return String(unsafeUninitializedCapacity: 24) { text in
            func write(_ number: Int64, at start: Int, digits: Int, then separator: Unicode.Scalar) {
                var rest = number
                for place in stride(from: start + digits - 1, through: start, by: -1) {
                    text[place] = 0x30 + UInt8(truncatingIfNeeded: rest % 10)
                    rest /= 10
                }
                text[start + digits] = UInt8(ascii: separator)
            }
            write(date.year, at: 0, digits: 4, then: "-")
            write(date.month, at: 5, digits: 2, then: "-")
            write(date.day, at: 8, digits: 2, then: "T")
            write(inDay / 3_600_000, at: 11, digits: 2, then: ":")
            write(inDay / 60_000 % 60, at: 14, digits: 2, then: ":")
            write(inDay / 1_000 % 60, at: 17, digits: 2, then: ".")
            write(inDay % 1_000, at: 20, digits: 3, then: "Z")
            return 24
        }
    }

    /// Reads a date-time of RFC 3339: with an offset (`Z`, `+02:00`), seconds with or without a fraction, of which
    /// more than milliseconds is cut off. A leap second counts as the second after it.
    public init?(rfc3339 text: String) {
        var rest = text.utf8[...]
        guard let year = Self.number(&rest, digits: 4), Self.take("-", &rest),
            let month = Self.number(&rest, digits: 2), Self.take("-", &rest),
            let day = Self.number(&rest, digits: 2),
            Self.take("T", &rest) || Self.take("t", &rest) || Self.take(" ", &rest),
            let hour = Self.number(&rest, digits: 2), Self.take(":", &rest),
            let minute = Self.number(&rest, digits: 2), Self.take(":", &rest),
            let second = Self.number(&rest, digits: 2)
        else { return nil }
        guard let fraction = Self.fraction(&rest), let offset = Self.offset(&rest), rest.isEmpty,
            year > 0, (1...12).contains(month), day > 0, day <= Self.days(inMonth: month, of: year),
            hour < 24, minute < 60, second <= 60
        else { return nil }
        let minutes = (Self.day(ofYear: year, month: month, day: day) * 24 + hour) * 60 + minute - offset
        self.init(milliseconds: (minutes * 60 + second) * 1_000 + fraction)
    }

    // MARK: Text

    private static func number(_ rest: inout Substring.UTF8View, digits: Int) -> Int64? {
        var number: Int64 = 0
        for _ in 0..<digits {
            guard let byte = rest.popFirst(), byte &- 0x30 < 10 else { return nil }
            number = number * 10 + Int64(byte - 0x30)
        }
        return number
    }

    private static func take(_ separator: Unicode.Scalar, _ rest: inout Substring.UTF8View) -> Bool {
        guard rest.first == UInt8(ascii: separator) else { return false }
        rest.removeFirst()
        return true
    }

    /// Milliseconds; 0 if there is no fraction.
    private static func fraction(_ rest: inout Substring.UTF8View) -> Int64? {
        guard take(".", &rest) else { return 0 }
        var milliseconds: Int64 = 0
        var weight: Int64 = 100
        let digits = rest.prefix { $0 &- 0x30 < 10 }
        guard !digits.isEmpty else { return nil }
        for digit in digits {
            milliseconds += Int64(digit - 0x30) * weight
            weight /= 10
        }
        rest = rest.dropFirst(digits.count)
        return milliseconds
    }

    /// Minutes east of UTC.
    private static func offset(_ rest: inout Substring.UTF8View) -> Int64? {
        if take("Z", &rest) || take("z", &rest) { return 0 }
        let isEast = take("+", &rest)
        guard isEast || take("-", &rest), let hours = number(&rest, digits: 2), take(":", &rest),
            let minutes = number(&rest, digits: 2), hours < 24, minutes < 60
        else { return nil }
        return (isEast ? 1 : -1) * (hours * 60 + minutes)
    }

    // MARK: The Gregorian calendar in years that begin with March, so that a leap day is the last of its year

    private static let daysBefore1970: Int64 = 719_468

    /// Days since 1970-01-01.
    private static func day(ofYear year: Int64, month: Int64, day: Int64) -> Int64 {
        let shifted = month <= 2 ? year - 1 : year
        let (era, yearOfEra) = shifted.dividedFloor(by: 400)
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - daysBefore1970
    }

    private static func date(ofDay day: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let (era, dayOfEra) = (day + daysBefore1970).dividedFloor(by: 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shifted = (5 * dayOfYear + 2) / 153
        let month = shifted < 10 ? shifted + 3 : shifted - 9
        return (
            yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shifted + 2) / 5 + 1
        )
    }

    private static func days(inMonth month: Int64, of year: Int64) -> Int64 {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }
}

extension Int64 {
    /// Rounded down, so that the remainder is never negative.
    fileprivate func dividedFloor(by divisor: Int64) -> (quotient: Int64, remainder: Int64) {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}
