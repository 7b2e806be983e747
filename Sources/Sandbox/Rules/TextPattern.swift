import Foundation
import Synchronization

/// A regular expression for whole texts.
struct TextPattern: Sendable, Equatable {
    /// Some patterns, such as `(a+)+`, need hours for certain texts, and requests wait while a rule is matched. A text
    /// that takes longer than this does not match.
    private static let patience: Duration = .milliseconds(100)

    let text: String
    private let expression: NSRegularExpression
    /// Is put before each text that is matched.
    private var prefix = ""

    /// - Returns: Nil if it is none.
    init?(_ text: String) {
        // The text is also parsed without the group: `a)|(?:b` is valid only within it.
        guard (try? NSRegularExpression(pattern: text)) != nil,
            let expression = try? NSRegularExpression(pattern: "\\A(?:\(text))\\z")
        else { return nil }
        (self.text, self.expression) = (text, expression)
    }

    /// - Throws: 400 that names the field.
    init(_ text: String, field: String) throws(ControlProblem) {
        guard let pattern = TextPattern(text) else {
            throw .invalid(field: field, value: text, accepted: ["a regular expression"])
        }
        self = pattern
    }

    func matches(_ other: String) -> Bool {
        let other = prefix + other
        let isFound = Mutex(false)
        let end = ContinuousClock.now + Self.patience
        let range = NSRange(other.startIndex..., in: other)
        expression.enumerateMatches(in: other, options: .reportProgress, range: range) { result, _, stop in
            if result != nil { isFound.withLock { $0 = true } }
            if result != nil || ContinuousClock.now > end { stop.pointee = true }
        }
        return isFound.withLock(\.self)
    }

    /// Returns the pattern for texts from which a common beginning was removed.
    func below(_ beginning: String) -> TextPattern {
        var pattern = self
        pattern.prefix = beginning
        return pattern
    }

    /// The literal segments with which every matching path begins, and whether a matching path has no further ones.
    var beginningOfPath: (segments: [String], isWhole: Bool) {
        guard text.hasPrefix("/"), !text.contains("|") else { return ([], false) }
        var literal = text.prefix { !#"\.[](){}*+?^$"#.contains($0) }
        if literal.endIndex == text.endIndex { return (RequestTarget(text).segments, true) }
        // A quantifier applies to the last character.
        if "*+?{".contains(text[literal.endIndex]) { literal.removeLast() }
        // The last segment may be incomplete.
        guard let end = literal.lastIndex(of: "/") else { return ([], false) }
        return (RequestTarget(String(literal[..<end])).segments, false)
    }

    static func == (one: TextPattern, other: TextPattern) -> Bool { one.text == other.text }
}
