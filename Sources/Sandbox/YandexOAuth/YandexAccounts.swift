import Crypto
import Foundation
import Synchronization

/// Who may use the simulated service, by which tokens, and what time it is there.
final class YandexAccounts: Sendable {
    /// The application that is registered.
    static let clientID = "sandbox-client"
    static let clientSecret = "sandbox-secret"

    /// The accounts with the tokens that open them from the start.
    static let tokens: KeyValuePairs<String, String> = ["anna": "sandbox-token", "boris": "sandbox-token-2"]

    /// What a request may do by its `Authorization` field.
    enum Access: Equatable {
        case granted(login: String)
        /// There is no such field.
        case none
        case refused
    }

    /// What can be set by the control API.
    struct Settings: Sendable, Equatable, Codable {
        enum Consent: String, CaseIterable, Sendable, Codable {
            case allow, deny, ask
        }

        /// What the user does on the page of consent; `ask` shows it.
        var consent = Consent.allow
        /// Who is signed in there.
        var account = "anna"
        /// Seconds that new tokens hold.
        var lifetime = 31_536_000
    }

    struct Token: Sendable, Equatable, Codable {
        let login: String
        let expires: Date?
    }

    /// What a code was given for.
    struct Grant: Sendable, Equatable, Codable {
        let login: String
        let redirectURI: String?
        let challenge: PKCEChallenge?
        let expires: Date
    }

    struct State: Sendable, Codable {
        var settings = Settings()
        var access: [String: Token] = [:]
        var refresh: [String: String] = [:]
        var codes: [String: Grant] = [:]
        /// Devices that wait for consent, by their codes.
        var devices: [String: Device] = [:]
        /// Seconds that the service's clock is ahead of the machine's.
        var ahead = 0
        fileprivate var issued = 0
    }

    private let seed: UInt64
    private let clock: @Sendable () -> Date
    private let state: Mutex<State>

    /// - Parameter clock: the machine's time.
    init(seed: UInt64, clock: @escaping @Sendable () -> Date = { Date() }) {
        self.seed = seed
        self.clock = clock
        state = Mutex(Self.initial)
    }

    private static var initial: State {
        var state = State()
        for (login, token) in tokens { state.access[token] = Token(login: login, expires: nil) }
        return state
    }

    func reset() { state.withLock { $0 = Self.initial } }

    func withState<Result: Sendable>(_ body: (inout State, Date) -> Result) -> Result {
        let now = clock()
        return state.withLock { body(&$0, now.addingTimeInterval(TimeInterval($0.ahead))) }
    }

    /// The service's time.
    var now: Date { withState { _, now in now } }

    func access(_ authorization: String?, at now: Date) -> Access {
        guard let authorization else { return .none }
        let parts = authorization.split(separator: " ", maxSplits: 1)
        // Clients without a token send an empty field, or the scheme alone.
        if parts.isEmpty || (parts.count == 1 && parts[0].lowercased() == "oauth") { return .none }
        guard parts.count == 2, ["oauth", "bearer"].contains(parts[0].lowercased()) else { return .refused }
        return state.withLock { state in
            guard let token = state.access[String(parts[1])], token.expires.map({ now < $0 }) ?? true else {
                return .refused
            }
            return .granted(login: token.login)
        }
    }

    /// A pair of new tokens.
    func issue(to login: String) -> (access: String, refresh: String, lifetime: Int) {
        withState { state, now in
            let access = "y0_sandbox_\(secret("access", &state))"
            let parts: [Substring] = [
                "1", secret("refresh", &state).prefix(16), secret("refresh", &state)[...],
                secret("refresh", &state).prefix(22),
            ]
            let refresh = parts.joined(separator: ":")
            state.access[access] = Token(
                login: login,
                expires: now.addingTimeInterval(TimeInterval(state.settings.lifetime))
            )
            state.refresh[refresh] = login
            return (access, refresh, state.settings.lifetime)
        }
    }

    /// A code that is worth a pair of tokens for ten minutes.
    func code(for login: String, redirectURI: String?, challenge: PKCEChallenge?) -> String {
        withState { state, now in
            let code = String(secret("code", &state).prefix(16))
            state.codes[code] = Grant(
                login: login,
                redirectURI: redirectURI,
                challenge: challenge,
                expires: now.addingTimeInterval(600)
            )
            return code
        }
    }

    /// A text that cannot be guessed from others of the same seed, and is the same in each run.
    func secret(_ purpose: String, _ state: inout State) -> String {
        state.issued += 1
        return Hexadecimal.text(
            SHA256.hash(data: Array("larder sandbox \(purpose) \(seed) \(state.issued)".utf8)).prefix(20)
        )
    }
}
