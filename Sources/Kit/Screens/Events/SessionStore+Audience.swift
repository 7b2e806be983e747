import Foundation

extension SessionStore {
    /// Returns who listens with a credential: to events for everyone, and with a token also to those of its account.
    /// - Throws: 401 if the token opens no session; `StorageError`.
    func audience(of credential: BearerCredential) throws -> EventAudience {
        guard let hash = try credential.tokenHash else { return EventAudience(session: nil) { true } }
        guard let session = try session(tokenHash: hash) else {
            throw Problem(.sessionExpired, "This token opens no session.")
        }
        // A stream lasts long: what is stored counts, whether or not the end of the session was announced.
        return EventAudience(session: session) { try storedSession(hash) != nil }
    }
}
