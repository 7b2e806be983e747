import Crypto
import JSONValues
import Synchronization

/// The known secrets and their placeholders.
///
/// In recordings a placeholder is a number. It is the same for the same secret as long as the process runs, in the
/// files of all upstreams. A link in one response therefore still matches the request to it. In journals a placeholder
/// is the beginning of the SHA-256, which is enough to tell two secrets apart.
package final class Secrets: Sendable {
    /// The prefix of placeholders in recordings; a number follows.
    static let prefix = "larder-secret-"
    /// Replaces a secret that has no number. It matches any secret.
    static let any = prefix + "any"
    private static let hashPrefix = "sha256:"

    fileprivate struct State {
        var patterns = SecretPatterns()
        /// In the order in which they were learned.
        var learned: [String] = []
        var numbers: [String: Int] = [:]
        var last = 0
        /// Number of secrets that were learned.
        var revision = 0
    }

    let areHashed: Bool
    /// Largest number of secrets that are searched for; beyond it the oldest are removed.
    private let limit: Int
    private let state = Mutex(State())

    /// Creates an empty list, for recordings.
    package convenience init() { self.init(areHashed: false, limit: .max) }

    init(areHashed: Bool, limit: Int) { (self.areHashed, self.limit) = (areHashed, limit) }

    package static func hash(_ secret: String) -> String {
        hashPrefix + Hexadecimal.text(SHA256.hash(data: Array(secret.utf8)).prefix(6))
    }

    static func isPlaceholder(_ text: String) -> Bool {
        text.hasPrefix(prefix) || (text.hasPrefix(hashPrefix) && text.utf8.count == hashPrefix.utf8.count + 12)
    }

    /// Starts the numbers of new placeholders after those of existing files.
    func skip(to number: Int) { state.withLock { $0.last = max($0.last, number) } }

    /// Returns whether two texts differ only in the numbers of placeholders. If so, the secrets of the second text get
    /// the numbers of the first, so that a second recording of the same response changes no file.
    func adopt(_ text: String, _ other: String) -> Bool {
        let numbers = { (text: String) in text.matches(of: /larder-secret-([0-9]+)/).compactMap { Int($0.output.1) } }
        guard FixtureMatch.anonymous(Self.withoutDigest(text)) == FixtureMatch.anonymous(Self.withoutDigest(other))
        else {
            return false
        }
        let pairs = zip(numbers(other), numbers(text))
        let renumbered = Dictionary(pairs, uniquingKeysWith: { first, _ in first })
        guard pairs.allSatisfy({ renumbered[$0] == $1 }), Set(renumbered.values).count == renumbered.count else {
            return false
        }
        return state.withLock { state in
            let taken = state.numbers.values.filter { renumbered[$0] == nil }
            guard taken.allSatisfy({ !renumbered.values.contains($0) }) else { return false }
            state.numbers = state.numbers.mapValues { renumbered[$0] ?? $0 }
            return true
        }
    }

    /// Removes the digest of a body, which depends on the numbers in it, and the day of the recording.
    private static func withoutDigest(_ text: String) -> String {
        text.replacing(/\ *(?:body_sha256: [0-9a-f]{64}|day: .?[0-9-]{10}.?)\n/, with: "")
    }

    /// Replaces a secret from now on wherever it occurs.
    func learn(_ secret: String) {
        guard !Self.isPlaceholder(secret) else { return }
        state.withLock { state in
            guard !state.patterns.secrets.contains(secret) else { return }
            state.revision += 1
            state.learned.append(secret)
            if state.learned.count > limit {
                state.learned.removeFirst(limit / 2)
                state.patterns = SecretPatterns()
                for secret in state.learned { state.patterns.add(secret) }
            } else {
                state.patterns.add(secret)
            }
        }
    }

    /// Changes when a secret is learned.
    var revision: Int { state.withLock { $0.revision } }

    /// Returns the placeholder of a secret. A new secret gets a number if it is written, and is ``any`` otherwise.
    func placeholder(_ secret: String, isWritten: Bool) -> String {
        guard !secret.isEmpty, !Self.isPlaceholder(secret) else { return secret }
        if areHashed { return Self.hash(secret) }
        return state.withLock { $0.placeholder(secret, isWritten: isWritten) }
    }

    /// Returns the placeholder of a text that is a known secret, else the text.
    func known(_ text: String) -> String {
        state.withLock { state in state.numbers[text].map { Self.prefix + String($0) } } ?? text
    }

    /// Returns bytes with every secret that was learned replaced; nil if there is none.
    func replaced(in bytes: [UInt8], isWritten: Bool) -> [UInt8]? {
        let patterns = state.withLock { $0.patterns }
        return patterns.replaced(in: bytes) { placeholder($0, isWritten: isWritten) }
    }
}

extension Secrets.State {
    fileprivate mutating func placeholder(_ secret: String, isWritten: Bool) -> String {
        if let number = numbers[secret] { return Secrets.prefix + String(number) }
        guard isWritten else { return Secrets.any }
        last += 1
        numbers[secret] = last
        return Secrets.prefix + String(last)
    }
}

/// A likely secret that is left after all known secrets were replaced. Reports name its place, never its value.
struct SuspectedSecret: Sendable, Equatable {
    /// `header.NAME`, `request`, the JSON pointer of a member or the line of a text.
    let place: String
    let reason: String

    var text: String { "\(place) \(reason)" }

    /// Largest number of them that is reported for one message.
    static let most = 5

    /// Names of random values that are not secret.
    private static let harmless = [
        "id", "ids", "hash", "etag", "md5", "sha1", "sha256", "sha512", "digest", "checksum", "revision", "rev",
        "commit", "version", "cursor", "next", "integrity", "fingerprint", "blurhash", "public_key", "publickey",
    ]

    /// Searches a header field.
    static func find(inField name: String, _ value: String) -> [SuspectedSecret] {
        guard !value.contains("://"), let word = SecretWords(value).first(where: { SecretWords.kind(of: $0) != nil })
        else { return [] }
        return [SuspectedSecret(place: "header.\(name)", reason: "looks like \(SecretWords.kind(of: word) ?? "")")]
    }

    /// Searches the query of a request.
    static func find(inTarget target: String) -> [SuspectedSecret] {
        RequestTarget(target).query.compactMap { item in
            guard !isHarmless(item.name), let reason = reason(item.value) else { return nil }
            return SuspectedSecret(place: "request ?\(item.name)", reason: reason)
        }
    }

    static func find(inBody text: String, _ form: BodyForm) -> [SuspectedSecret] {
        if let value = JSONValue(json: text.utf8) {
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
        // The signatures of links were replaced before.
        guard !text.contains("://") else { return nil }
        return SecretWords(String(text)).lazy.compactMap(SecretWords.suspicion).first
    }

    private static func isHarmless(_ name: String) -> Bool {
        let folded = name.lowercased()
        return harmless.contains(where: folded.hasSuffix)
    }
}
