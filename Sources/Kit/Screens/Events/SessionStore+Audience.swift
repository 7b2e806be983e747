import Foundation

extension SessionStore {
    /// Returns who listens with a credential: to events for everyone, and with a token also to those of its account.
    /// - Throws: 401 if the token opens no session; `StorageError`.
    func audience(of credential: BearerCredential) throws -> EventAudience {
        guard let hash = try credential.tokenHash else { return EventAudience(session: nil) { true } }
        guard let session = try session(tokenHash: hash) else {
            throw Problem(.sessionExpired, "This token opens no session.")
        }
        return EventAudience(session: session) { try self.session(tokenHash: hash) != nil }
    }
}
