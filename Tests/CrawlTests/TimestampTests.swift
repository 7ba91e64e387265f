import Crawl
import Foundation
import Testing

struct TimestampTests {
    @Test(arguments: [
        (0, "1970-01-01T00:00:00.000Z"), (-1, "1969-12-31T23:59:59.999Z"),
        (951_782_400_000, "2000-02-29T00:00:00.000Z"),
        (1_772_366_400_250, "2026-03-01T12:00:00.250Z"), (253_402_300_799_999, "9999-12-31T23:59:59.999Z"),
        (-62_135_596_800_000, "0001-01-01T00:00:00.000Z"), (4_107_542_399_999, "2100-02-28T23:59:59.999Z"),
        (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
    ])
    func `moments are written by RFC 3339 and read back`(milliseconds: Int64, text: String) {
        #expect(Timestamp(milliseconds: milliseconds).rfc3339 == text)
        #expect(Timestamp(rfc3339: text)?.milliseconds == milliseconds)
    }

    @Test(arguments: [
        ("1985-04-12T23:20:50.52Z", 482_196_050_520), ("1996-12-19T16:39:57-08:00", 851_042_397_000),
        ("1990-12-31T23:59:60Z", 662_688_000_000), ("1990-12-31T15:59:60-08:00", 662_688_000_000),
        ("1937-01-01T12:00:27.87+00:20", -1_041_337_172_130), ("1970-01-01t00:00:00z", 0),
        ("1970-01-01 00:00:00.0019Z", 1),
        ("1970-01-01T00:00:00.123456789012345678901234567890Z", 123),
    ])
    func `the examples of RFC 3339 are read`(text: String, milliseconds: Int64) {
        #expect(Timestamp(rfc3339: text)?.milliseconds == milliseconds)
    }

    @Test(arguments: [
        "", "2026-03-01", "2026-03-01T12:00:00", "2026-03-01T12:00Z", "2026-02-29T00:00:00Z", "2100-02-29T00:00:00Z",
        "2026-13-01T00:00:00Z", "2026-00-01T00:00:00Z", "2026-01-00T00:00:00Z", "2026-01-32T00:00:00Z",
        "2026-01-01T24:00:00Z", "2026-01-01T00:60:00Z", "2026-01-01T00:00:61Z", "2026-01-01T00:00:00.Z",
        "2026-01-01T00:00:00+0200", "2026-01-01T00:00:00+24:00", "2026-01-01T00:00:00Zx", " 2026-01-01T00:00:00Z",
        "0000-01-01T00:00:00Z", "26-01-01T00:00:00Z", "+2026-01-01T00:00:00Z", "2026-1-1T0:0:0Z", "1772366400",
        "２０２６-01-01T00:00:00Z",
    ])
    func `what is no date-time of RFC 3339 is refused`(text: String) {
        #expect(Timestamp(rfc3339: text) == nil)
    }

    @Test func `moments that cannot be written become the nearest that can`() {
        #expect(Timestamp(milliseconds: .max).rfc3339 == "9999-12-31T23:59:59.999Z")
        #expect(Timestamp(milliseconds: .min).rfc3339 == "0001-01-01T00:00:00.000Z")
    }

    @Test func `the calendar agrees with Foundation's`() {
        var random = SplitMix64(seed: 3)
        let style = Date.ISO8601FormatStyle(includingFractionalSeconds: false)
        for _ in 0..<2_000 {
            // From 1583, the first whole year of the Gregorian calendar.
            let seconds = Int64.random(in: -12_212_553_600...253_402_300_799, using: &random)
            let text = Timestamp(milliseconds: seconds * 1_000).rfc3339.replacing(".000Z", with: "Z")
            #expect(text == Date(timeIntervalSince1970: Double(seconds)).formatted(style))
            #expect(Timestamp(rfc3339: text)?.milliseconds == seconds * 1_000)
        }
    }
}
