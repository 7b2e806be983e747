import Foundation
import Synchronization

/// A regular expression for whole texts.
struct TextPattern: Sendable, Equatable {
    /// A pattern such as `(a+)+` tries some texts for hours, and a rule is matched while others wait. A text that takes
    /// longer does not match.
    private static let patience: Duration = .milliseconds(100)

    let text: String
    private let expression: NSRegularExpression
    /// Before each text that is matched.
    private var prefix = ""

    /// - Returns: Nil if it is none.
    init?(_ text: String) {
        // By itself, too: `a)|(?:b` is one only within the group.
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

    /// Returns the pattern for texts that lack a beginning that it has.
    func below(_ beginning: String) -> TextPattern {
        var pattern = self
        pattern.prefix = beginning
        return pattern
    }

    /// The segments with which every path that matches begins, as far as its text tells, and whether there are no more.
    var beginningOfPath: (segments: [String], isWhole: Bool) {
        guard text.hasPrefix("/"), !text.contains("|") else { return ([], false) }
        var literal = text.prefix { !#"\.[](){}*+?^$"#.contains($0) }
        if literal.endIndex == text.endIndex { return (RequestTarget(text).segments, true) }
        // A quantifier is of the last character.
        if "*+?{".contains(text[literal.endIndex]) { literal.removeLast() }
        // The last segment may go on.
        guard let end = literal.lastIndex(of: "/") else { return ([], false) }
        return (RequestTarget(String(literal[..<end])).segments, false)
    }

    static func == (one: TextPattern, other: TextPattern) -> Bool { one.text == other.text }
}
