/// What looks like a secret after all that is known to be one was replaced: it is reported by its place, never by its
/// value.
struct SuspectedSecret: Sendable, Equatable {
    /// `header.NAME`, `request`, the JSON pointer of a member or the line of a text.
    let place: String
    let reason: String

    var text: String { "\(place) \(reason)" }

    /// Most of them that are told of one message.
    static let most = 5

    /// Names of values that are random and no secrets.
    private static let harmless = [
        "id", "ids", "hash", "etag", "md5", "sha1", "sha256", "sha512", "digest", "checksum", "revision", "rev",
        "commit", "version", "cursor", "next", "integrity", "fingerprint", "blurhash",
    ]

    /// Looks at a header field.
    static func find(inField name: String, _ value: String) -> [SuspectedSecret] {
        guard !value.contains("://"), let word = SecretWords(value).first(where: { SecretWords.kind(of: $0) != nil })
        else { return [] }
        return [SuspectedSecret(place: "header.\(name)", reason: "looks like \(SecretWords.kind(of: word) ?? "")")]
    }

    /// Looks at the query of a request.
    static func find(inTarget target: String) -> [SuspectedSecret] {
        RequestTarget(target).query.compactMap { item in
            guard !isHarmless(item.name), let reason = reason(item.value) else { return nil }
            return SuspectedSecret(place: "request ?\(item.name)", reason: reason)
        }
    }

    /// Looks at a body.
    static func find(inBody text: String, _ form: BodyForm) -> [SuspectedSecret] {
        if let value = try? JSONParser.parse(Array(text.utf8)) {
            var found: [SuspectedSecret] = []
            collect(value, at: JSONPointer(), &found)
            return found
        }
        let isFile = form == .text || form == .markup
        let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated()
        return Array(
            lines.lazy.compactMap { number, line -> SuspectedSecret? in
                let reason = isFile ? SecretWords(String(line)).lazy.compactMap(SecretWords.kind).first : reason(line)
                return reason.map { SuspectedSecret(place: "line \(number + 1)", reason: $0) }
            }.prefix(most)
        )
    }

    private static func collect(_ value: JSONValue, at pointer: JSONPointer, _ found: inout [SuspectedSecret]) {
        guard found.count < most else { return }
        switch value {
        case .string(let text):
            let name = pointer.tokens.last { JSONPointer.index($0) == nil } ?? ""
            guard !isHarmless(name), let reason = reason(text) else { return }
            found.append(SuspectedSecret(place: pointer.tokens.isEmpty ? "body" : pointer.description, reason: reason))
        case .array(let values):
            for (index, value) in values.enumerated() { collect(value, at: pointer.appending(String(index)), &found) }
        case .object(let object):
            for member in object.members { collect(member.value, at: pointer.appending(member.name), &found) }
        case .null, .bool, .number: break
        }
    }

    private static func reason(_ text: some StringProtocol) -> String? {
        // The signatures of links were replaced.
        guard !text.contains("://") else { return nil }
        return SecretWords(String(text)).lazy.compactMap(SecretWords.suspicion).first
    }

    private static func isHarmless(_ name: String) -> Bool {
        let folded = name.lowercased()
        return harmless.contains(where: folded.hasSuffix)
    }
}
