import Crawl

/// The date of an HTTP header (RFC 9110, section 5.6.7): the preferred form and both obsolete ones.
enum HTTPDate {
    /// - Parameter now: decides the century of a two-digit year: more than 50 years ahead means the past.
    /// - Returns: `nil` if the text is not a date.
    static func parse(_ text: String, now: Timestamp) -> Timestamp? {
        let words = text.split { $0 == " " || $0 == "," || $0 == "\t" || $0 == "-" }
        guard words.count >= 5 else { return nil }
        // Sun Nov  6 08:49:37 1994
        if let month = month(words[1]) {
            guard let day = Int(words[2]), let year = Int(words[4]) else { return nil }
            return timestamp(year: year, month: month, day: day, clock: words[3])
        }
        // Sun, 06 Nov 1994 08:49:37 GMT and Sunday, 06-Nov-94 08:49:37 GMT
        guard let month = month(words[2]), let day = Int(words[1]), var year = Int(words[3]) else { return nil }
        if words[3].utf8.count == 2 { year = fullYear(year, now: now) }
        return timestamp(year: year, month: month, day: day, clock: words[4])
    }

    private static func month(_ name: Substring) -> Int? {
        let names = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
        return names.firstIndex(of: name.lowercased()).map { $0 + 1 }
    }

    private static func fullYear(_ twoDigits: Int, now: Timestamp) -> Int {
        let thisYear = 1970 + Int(now.milliseconds / 31_556_952_000)
        let year = thisYear - thisYear % 100 + twoDigits
        return year > thisYear + 50 ? year - 100 : year
    }

    private static func timestamp(year: Int, month: Int, day: Int, clock: Substring) -> Timestamp? {
        let parts = clock.split(separator: ":").compactMap { Int($0) }
        guard parts.count == 3, (0...23).contains(parts[0]), (0...59).contains(parts[1]), (0...60).contains(parts[2]),
            (1...31).contains(day), (1601...9999).contains(year)
        else { return nil }
        let seconds = daysSinceEpoch(year, month, day) * 86_400 + parts[0] * 3_600 + parts[1] * 60 + parts[2]
        return Timestamp(milliseconds: Int64(seconds) * 1_000)
    }

    /// Days from 1970-01-01 in the Gregorian calendar, counted in years that begin in March, so that the leap day
    /// comes last.
    private static func daysSinceEpoch(_ year: Int, _ month: Int, _ day: Int) -> Int {
        let year = month <= 2 ? year - 1 : year
        let era = (year >= 0 ? year : year - 399) / 400
        let yearOfEra = year - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }
}
