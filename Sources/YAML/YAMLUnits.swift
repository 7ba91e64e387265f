/// Amounts with a unit, as files and commands write them.
public enum YAMLUnits {
    /// `250ms`, `10s`, `5m`, `1h`, `7d`, or several from large to small: `1h30m`. `0` needs no unit.
    public static func duration(_ text: String) -> Duration? {
        guard text != "0" else { return .zero }
        var rest = Substring(text)
        var total: Int64 = 0
        var lastUnit = Int64.max
        repeat {
            guard let (number, unit) = leadingAmount(&rest), let factor = milliseconds(unit), factor < lastUnit else {
                return nil
            }
            lastUnit = factor
            let (product, tooLong) = number.multipliedReportingOverflow(by: factor)
            let (sum, tooMuch) = total.addingReportingOverflow(product)
            guard !tooLong, !tooMuch else { return nil }
            total = sum
        } while !rest.isEmpty
        return .milliseconds(total)
    }

    /// `512`, `64KiB`, `4MiB`, `1GiB` (powers of 1024), `10kB`, `5MB`, `1GB` (powers of 1000), `100B`.
    public static func bytes(_ text: String) -> Int? {
        var rest = Substring(text)
        guard let (number, unit) = leadingAmount(&rest), rest.isEmpty, let factor = bytesIn(unit) else { return nil }
        let (product, tooMuch) = number.multipliedReportingOverflow(by: factor)
        return tooMuch ? nil : Int(product)
    }

    private static func leadingAmount(_ rest: inout Substring) -> (Int64, Substring)? {
        let digits = rest.prefix { $0.isASCII && $0.isNumber }
        guard let number = Int64(digits) else { return nil }
        rest = rest.dropFirst(digits.count)
        let unit = rest.prefix { $0.isLetter }
        rest = rest.dropFirst(unit.count)
        return (number, unit)
    }

    private static func milliseconds(_ unit: Substring) -> Int64? {
        switch unit {
        case "ms": 1
        case "s": 1_000
        case "m": 60_000
        case "h": 3_600_000
        case "d": 86_400_000
        default: nil
        }
    }

    private static func bytesIn(_ unit: Substring) -> Int64? {
        switch unit {
        case "", "B": 1
        case "kB", "KB": 1_000
        case "MB": 1_000_000
        case "GB": 1_000_000_000
        case "KiB": 1 << 10
        case "MiB": 1 << 20
        case "GiB": 1 << 30
        default: nil
        }
    }
}
