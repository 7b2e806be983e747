import Foundation

/// Names of files in one folder: such that Windows, macOS and Linux take them, each used once whatever its case.
struct FileNames: Sendable {
    /// Longest name in bytes of UTF-8, ending included.
    static let longest = 200

    private var used: Set<String> = []
    /// The number from which on a name is looked for: without it, many files of one name would take quadratic time.
    private var next: [String: Int] = [:]

    /// Returns a name with an ending that no file has yet: the given one as far as possible, with a number if needed.
    mutating func unused(_ name: String, ending: String) -> String {
        let stem = Self.safe(name)
        let key = Self.folded("\(stem).\(ending)")
        var number = next[key, default: 1]
        defer { next[key] = number + 1 }
        while true {
            let tail = number == 1 ? ".\(ending)" : " (\(number)).\(ending)"
            let candidate = Self.shortened(stem, to: Self.longest - tail.utf8.count) + tail
            if used.insert(Self.folded(candidate)).inserted { return candidate }
            number += 1
        }
    }

    private static func folded(_ name: String) -> String { name.lowercased().precomposedStringWithCanonicalMapping }

    /// Returns a name without what some system refuses: reserved characters and names, dots and spaces at its ends.
    static func safe(_ name: String) -> String {
        let scalars = name.precomposedStringWithCanonicalMapping.unicodeScalars.map { scalar in
            isRefused(scalar) ? "_" : Character(scalar)
        }
        let text = String(scalars).trimmingCharacters(in: CharacterSet(charactersIn: ". "))
        let stem = text.prefix { $0 != "." }.uppercased()
        return text.isEmpty || reserved.contains(stem.trimmingCharacters(in: .whitespaces)) ? "_\(text)" : text
    }

    private static func isRefused(_ scalar: Unicode.Scalar) -> Bool {
        if "<>:\"/\\|?*".unicodeScalars.contains(scalar) { return true }
        return switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned, .privateUse: true
        default: false
        }
    }

    /// Devices of Windows.
    private static let reserved: Set<String> = {
        let numbered = (0...9).flatMap { ["COM\($0)", "LPT\($0)"] }
        return Set(["CON", "PRN", "AUX", "NUL"] + numbered)
    }()

    /// Whole characters only.
    private static func shortened(_ name: String, to bytes: Int) -> String {
        var count = 0
        let kept = name.prefix { character in
            count += character.utf8.count
            return count <= bytes
        }
        return kept.trimmingCharacters(in: .whitespaces)
    }
}
