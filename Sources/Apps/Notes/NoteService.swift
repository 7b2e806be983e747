import Foundation
import HTTPTypes
import Logging
public import Screens
import Storage
import Synchronization
public import Upstream

/// What the Notes app does: the rules of its screens (design/screens.md 6).
public struct NoteService: Sendable {
    /// What the app can be told.
    public struct Options: Sendable {
        /// Logarithm of scrypt's N: each step doubles time and memory of hashing a password.
        public var scryptLogarithm: Int
        /// Wrong passwords for one account name before it has to wait.
        public var attemptsPerAccount: Int
        /// The same for one address.
        public var attemptsPerAddress: Int
        /// Time after which all attempts are back.
        public var attemptWindow: Duration

        /// Creates options.
        public init(
            scryptLogarithm: Int = 15,
            attemptsPerAccount: Int = 10,
            attemptsPerAddress: Int = 100,
            attemptWindow: Duration = .seconds(900)
        ) {
            self.scryptLogarithm = scryptLogarithm
            self.attemptsPerAccount = attemptsPerAccount
            self.attemptsPerAddress = attemptsPerAddress
            self.attemptWindow = attemptWindow
        }
    }

    let store: NoteStore
    let peopleAPI: PeopleAPI
    let geocoder: GeocoderAPI?
    let gazetteer: Gazetteer
    let sessions: SessionStore
    let events: EventStream
    let hasher: PasswordHasher
    let attempts: LoginGate
    let clock: WallClock

    /// Puts the app together. Without a geocoder, places are those of the gazetteer and of the notes.
    public init(
        store: NoteStore,
        people: PeopleAPI,
        geocoder: GeocoderAPI?,
        gazetteer: Gazetteer,
        sessions: SessionStore,
        events: EventStream,
        options: Options,
        clock: WallClock
    ) {
        self.store = store
        peopleAPI = people
        self.geocoder = geocoder
        self.gazetteer = gazetteer
        self.sessions = sessions
        self.events = events
        hasher = PasswordHasher(cost: .scrypt(logarithm: options.scryptLogarithm))
        let limits = LoginAttempts.Limits(
            perAccount: options.attemptsPerAccount,
            perAddress: options.attemptsPerAddress,
            window: options.attemptWindow
        )
        attempts = LoginGate(limits)
        self.clock = clock
    }

    /// Tells the account that its notes have changed, on both screens that show them.
    func announce(_ revision: Int, to account: Int64) {
        for screen in ["notes.list", "notes.map"] {
            events.publish(
                .screenChanged(
                    app: "notes",
                    screen: screen,
                    revision: revision,
                    audience: .account(app: "notes", account: "\(account)")
                )
            )
        }
    }

    /// The account of a session.
    func account(_ request: ScreenRequest) throws -> Int64 {
        guard let account = Int64(try request.requiredSession().account) else {
            throw Problem(.sessionExpired, "This session is of no account.")
        }
        return account
    }

    /// A response of data that has no upstream.
    func local(
        _ content: some Encodable & Sendable,
        _ meta: Meta,
        _ links: Links,
        status: HTTPResponse.Status = .ok,
        headerFields: HTTPFields = [:],
        changeToken: ChangeToken? = nil
    ) throws -> ScreenResponse {
        try .screen(
            Envelope(data: content, meta: meta, links: links),
            status: status,
            provenance: .local,
            now: clock.now(),
            headerFields: headerFields,
            changeToken: changeToken
        )
    }
}

/// The attempts at logging in, shared by all requests.
final class LoginGate: Sendable {
    private let state: Mutex<LoginAttempts>

    init(_ limits: LoginAttempts.Limits) { state = Mutex(LoginAttempts(limits)) }

    func begin(account: String, address: String?, now: Date) -> LoginAttempts.Decision {
        state.withLock { $0.begin(account: account, address: address, now: now) }
    }

    func abandoned(account: String, address: String?) {
        state.withLock { $0.abandoned(account: account, address: address) }
    }

    func succeeded(account: String, address: String?) {
        state.withLock { $0.succeeded(account: account, address: address) }
    }
}
