import ArgumentParser
import Foundation

/// Sizes, ages and counts as the commands print them.
enum HumanReadable {
    /// Bytes in binary units, one decimal: `812 B`, `1.5 KiB`.
    static func bytes(_ count: Int) -> String {
        guard count >= 1024 else { return "\(count) B" }
        var (value, unit) = (Double(count) / 1024, 0)
        let units = ["KiB", "MiB", "GiB", "TiB"]
        while value >= 1024, unit < units.count - 1 { (value, unit) = (value / 1024, unit + 1) }
        let tenths = Int(value * 10)
        return "\(tenths / 10).\(tenths % 10) \(units[unit])"
    }

    /// A span of seconds in the largest unit of which there are at least two: `90s`, `3h`, `12d`.
    static func age(_ seconds: TimeInterval) -> String {
        let seconds = max(0, Int(seconds))
        for (unit, length) in [("d", 86400), ("h", 3600), ("m", 60)] where seconds >= 2 * length {
            return "\(seconds / length)\(unit)"
        }
        return "\(seconds)s"
    }

    /// A number with its noun.
    static func count(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }
}

/// A span of time as an argument: `30s`, `15m`, `12h`, `7d`, `2w`.
struct Age: ExpressibleByArgument, Equatable {
    let seconds: TimeInterval

    init?(argument: String) {
        let units: [Character: Int] = ["s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604_800]
        guard let unit = argument.last.flatMap({ units[$0] }), let number = Int(argument.dropLast()),
            0...1_000_000 ~= number
        else { return nil }
        seconds = TimeInterval(number * unit)
    }
}
