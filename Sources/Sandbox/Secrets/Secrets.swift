import Crypto
import Synchronization

/// The secrets that were met, and what takes their place.
///
/// In recordings that is a number, the same for the same secret as long as the process runs, in the files of all
/// upstreams of a server, so that a link of one response and the request to it still fit together. In journals it is
/// the beginning of the SHA-256, enough to tell two apart.
package final class Secrets: Sendable {
    /// What placeholders in recordings begin with; a number follows.
    static let prefix = "larder-secret-"
    /// In place of a secret that has no number: it is compared with any.
    static let any = prefix + "any"
    private static let hashPrefix = "sha256:"

    fileprivate struct State {
        var patterns = SecretPatterns()
        /// In the order in which they were learned.
        var learned: [String] = []
        var numbers: [String: Int] = [:]
        var last = 0
        /// Counts those that were learned.
        var revision = 0
    }

    let areHashed: Bool
    /// Most secrets that are looked for; the oldest are forgotten.
    private let limit: Int
    private let state = Mutex(State())

    /// Creates an empty list, for recordings.
    package convenience init() { self.init(areHashed: false, limit: .max) }

    init(areHashed: Bool, limit: Int) { (self.areHashed, self.limit) = (areHashed, limit) }

    static func hash(_ secret: String) -> String {
        hashPrefix + Hexadecimal.text(SHA256.hash(data: Array(secret.utf8)).prefix(6))
    }

    static func isPlaceholder(_ text: String) -> Bool {
        text.hasPrefix(prefix) || (text.hasPrefix(hashPrefix) && text.utf8.count == hashPrefix.utf8.count + 12)
    }

    /// Gives the next placeholder a number above those that files have.
    func skip(to number: Int) { state.withLock { $0.last = max($0.last, number) } }

    /// Returns whether two texts differ in nothing but the numbers of placeholders. Then the secrets of the second one
    /// get the numbers of the first: a second recording of the same is no change.
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

    /// The digest of a body depends on the numbers in it.
    private static func withoutDigest(_ text: String) -> String {
        text.replacing(/\ *body_sha256: [0-9a-f]{64}\n/, with: "")
    }

    /// Has a secret replaced wherever it is from now on.
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

    /// Returns the placeholder of a secret. One that is new gets a number if it is written, and is ``any`` otherwise.
    func placeholder(_ secret: String, isWritten: Bool) -> String {
        guard !secret.isEmpty, !Self.isPlaceholder(secret) else { return secret }
        if areHashed { return Self.hash(secret) }
        return state.withLock { $0.placeholder(secret, isWritten: isWritten) }
    }

    /// Returns the placeholder of a text that was a secret before, else the text.
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
