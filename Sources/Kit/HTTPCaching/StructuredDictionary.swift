/// A dictionary of structured field values, as far as cache directives need it. RFC 8941 §3.2, §4.2.2.
struct StructuredDictionary {
    /// A member's value; parameters are checked and dropped.
    enum Value: Equatable {
        case boolean(Bool)
        case integer(Int)
        case string(String)
        case token(String)
        /// A decimal, a byte sequence or an inner list: no directive takes one.
        case other
    }

    /// Members in order; a key given again replaces the earlier value (§3.2).
    private(set) var members: [(key: String, value: Value)] = []

    /// Most members that are read: RFC 8941 §3.2 asks for at least 1,024.
    static let most = 1024

    /// Nil when any part of the text breaks the syntax: structured fields are taken whole or not at all (§4.2). Nil
    /// also for more than ``most`` members.
    init?(_ text: String) {
        var parser = StructuredParser(text)
        parser.skipSpaces()
        while !parser.isAtEnd {
            guard let key = parser.key() else { return nil }
            var value = Value.boolean(true)
            if parser.take("=") {
                guard let parsed = parser.itemOrInnerList() else { return nil }
                value = parsed
            }
            guard parser.parameters() else { return nil }
            members.removeAll { $0.key == key }
            members.append((key, value))
            guard members.count <= Self.most else { return nil }
            parser.skipOptionalWhitespace()
            if parser.isAtEnd { return }
            guard parser.take(",") else { return nil }
            parser.skipOptionalWhitespace()
            if parser.isAtEnd { return nil }
        }
    }
}
