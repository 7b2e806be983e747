import Synchronization

/// The placeholders of secrets: one secret has the same one for as long as the process runs, in the files of all
/// upstreams of a server, so that a link of one response and the request to it still fit together.
public final class FixtureSecrets: Sendable {
    static let prefix = "larder-secret-"
    static let any = prefix + "any"

    private struct State {
        var placeholders: [String: String] = [:]
        /// Credentials, which are replaced wherever they are.
        var credentials: [String] = []
        var last = 0
    }

    /// What a secret is for.
    enum Kind { case credential, signature }

    private let state = Mutex(State())

    /// Creates an empty list.
    public init() {}

    /// Gives the next placeholder a number above those that files have.
    func skip(to number: Int) { state.withLock { $0.last = max($0.last, number) } }

    /// Returns the placeholder of a secret. One that is new gets a number if it is written, and is ``any`` otherwise.
    func placeholder(_ secret: String, _ kind: Kind, isWritten: Bool) -> String {
        guard !secret.isEmpty, !secret.hasPrefix(Self.prefix) else { return secret }
        return state.withLock { state in
            if let known = state.placeholders[secret] { return known }
            guard isWritten else { return Self.any }
            state.last += 1
            let placeholder = Self.prefix + String(state.last)
            state.placeholders[secret] = placeholder
            if kind == .credential, secret.utf8.count >= 8 { state.credentials.append(secret) }
            return placeholder
        }
    }

    /// Returns the placeholder of a text that was a secret before, else the text.
    func known(_ text: String) -> String { state.withLock { $0.placeholders[text] } ?? text }

    var credentials: [(secret: String, placeholder: String)] {
        state.withLock { state in state.credentials.map { ($0, state.placeholders[$0] ?? Self.any) } }
    }
}
