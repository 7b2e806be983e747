import Crypto
import Foundation
import Synchronization

/// The users of the simulated service, their tokens, and its clock.
final class YandexAccounts: Sendable {
    /// The application that is registered.
    static let clientID = "sandbox-client"
    static let clientSecret = "sandbox-secret"

    /// The accounts with the tokens that are valid for them from the start.
    static let tokens: KeyValuePairs<String, String> = ["anna": "sandbox-token", "boris": "sandbox-token-2"]

    /// A right that a token has (`cloud_api:disk.…`).
    enum Right: String, CaseIterable, Sendable, Codable {
        case info, read, write
        /// Access to the folder of the application only, by `app:/`.
        case appFolder = "app_folder"
    }

    /// The rights of a request by its `Authorization` field.
    enum Access: Equatable {
        case granted(login: String, rights: Set<Right>)
        /// There is no such field.
        case none
        case refused
    }

    /// Set by the control API.
    struct Settings: Sendable, Equatable, Codable {
        enum Consent: String, CaseIterable, Sendable, Codable {
            case allow, deny, ask
        }

        /// The user's answer on the page of consent; `ask` shows it.
        var consent = Consent.allow
        /// The user who is signed in on that page.
        var account = "anna"
        /// Lifetime of new tokens, in seconds.
        var lifetime = 31_536_000
    }

    struct Token: Sendable, Equatable, Codable {
        let login: String
        let expires: Date?
        /// Nil for all.
        var rights: Set<Right>?
    }

    /// The login for which a code was issued, and the conditions of its exchange.
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
        /// Seconds by which the service's clock is ahead of the machine's.
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
        // Clients without a token send an empty field or the scheme alone.
        if parts.isEmpty || (parts.count == 1 && parts[0].lowercased() == "oauth") { return .none }
        guard parts.count == 2, ["oauth", "bearer"].contains(parts[0].lowercased()) else { return .refused }
        return state.withLock { state in
            guard let token = state.access[String(parts[1])], token.expires.map({ now < $0 }) ?? true else {
                return .refused
            }
            return .granted(login: token.login, rights: token.rights ?? Set(Right.allCases))
        }
    }

    /// A pair of new tokens.
    ///
    /// - Parameter rights: Those of the access token; nil for all.
    func issue(to login: String, rights: Set<Right>? = nil) -> (access: String, refresh: String, lifetime: Int) {
        withState { state, now in
            let access = "y0_sandbox_\(secret("access", &state))"
            let parts: [Substring] = [
                "1", secret("refresh", &state).prefix(16), secret("refresh", &state)[...],
                secret("refresh", &state).prefix(22),
            ]
            let refresh = parts.joined(separator: ":")
            state.access[access] = Token(
                login: login,
                expires: now.addingTimeInterval(TimeInterval(state.settings.lifetime)),
                rights: rights
            )
            state.refresh[refresh] = login
            return (access, refresh, state.settings.lifetime)
        }
    }

    /// Issues a code that can be exchanged for a pair of tokens within ten minutes.
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

    /// Returns a text that cannot be derived from others of the same seed, and is the same in each run.
    func secret(_ purpose: String, _ state: inout State) -> String {
        state.issued += 1
        return Hexadecimal.text(
            SHA256.hash(data: Array("larder sandbox \(purpose) \(seed) \(state.issued)".utf8)).prefix(20)
        )
    }
}

/// Codes for devices without a browser (RFC 8628).
extension YandexAccounts {
    /// Lifetime of a code of a device and the interval of its polls, in seconds.
    static let (deviceLifetime, deviceInterval) = (300, 5)

    /// A device that waits for a user's consent.
    struct Device: Sendable, Equatable, Codable {
        enum Decision: Sendable, Equatable, Codable {
            case open, denied
            case allowed(login: String)
        }

        let userCode: String
        let expires: Date
        var decision = Decision.open
    }

    /// Returns a new pair of codes.
    func registerDevice() -> (deviceCode: String, userCode: String) {
        withState { state, now in
            let code = secret("device", &state)
            let userCode = String(secret("user code", &state).prefix(8))
            state.devices[code] = Device(
                userCode: userCode,
                expires: now.addingTimeInterval(TimeInterval(Self.deviceLifetime))
            )
            return (code, userCode)
        }
    }

    /// Stores the decision of a user who has typed a code; false if no device waits with that code.
    func decide(userCode: String, _ decision: Device.Decision) -> Bool {
        withState { state, now in
            let waiting = state.devices.first { $0.value.userCode == userCode && now < $0.value.expires }
            guard let waiting else { return false }
            state.devices[waiting.key]?.decision = decision
            return true
        }
    }

    /// Returns the login to which a device got access, once.
    func redeemDevice(_ code: String) throws(OAuthFailure) -> String {
        let found = withState { state, now in
            let device = state.devices[code]
            if device?.decision != .open { state.devices[code] = nil }
            return (device: device, now: now)
        }
        guard let device = found.device else { throw .badCode }
        guard found.now < device.expires else { throw .expiredCode }
        switch device.decision {
        case .open: throw .pending
        case .denied: throw .denied
        case .allowed(let login): return login
        }
    }
}

/// The proof that the exchange of a code needs (RFC 7636).
struct PKCEChallenge: Sendable, Equatable, Codable {
    enum Method: String, Sendable, Codable {
        case plain
        case sha256 = "S256"
    }

    let text: String
    let method: Method

    /// - Parameter method: `plain` if it is not given (section 4.3).
    init?(text: String, method: String?) {
        guard let method = Method(rawValue: method ?? "plain"), Self.isWellFormed(text) else { return nil }
        self.text = text
        self.method = method
    }

    func isMet(by verifier: String) -> Bool {
        guard Self.isWellFormed(verifier) else { return false }
        switch method {
        case .plain: return verifier == text
        case .sha256:
            let digest = Data(SHA256.hash(data: Array(verifier.utf8))).base64EncodedString()
            return digest.replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "") == text
        }
    }

    /// 43 to 128 unreserved characters (sections 4.1 and 4.2).
    private static func isWellFormed(_ text: String) -> Bool {
        (43...128).contains(text.utf8.count)
            && text.unicodeScalars.allSatisfy {
                $0.isASCII
                    && ($0.properties.isAlphabetic || $0.properties.numericType != nil
                        || "-._~".unicodeScalars.contains($0))
            }
    }
}
