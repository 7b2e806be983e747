package import AppInterface
import Freshness
import Screens

extension ShipsApp {
    /// Accounts: with a name those of users, without one those of guests.
    package var seeding: Seeding {
        let (store, clock) = (sessions.store, sessions.clock)
        return Seeding { fields, token in
            try fields.requireOnly("app", "name", "token")
            let name = try fields.string("name")
            guard name.map(EmailAddress.isValid) ?? true else {
                throw Problem.validation([.field("/name", "invalid", .emailForm)])
            }
            let account = name.map(Sessions.account) ?? Sessions.guest()
            let session = Session(
                app: Self.name,
                kind: name == nil ? .guest : .user,
                account: account,
                name: name,
                createdAt: clock.now()
            )
            return SeedStep { try store.seed(session, token: token, in: $0) }
        }
    }
}
