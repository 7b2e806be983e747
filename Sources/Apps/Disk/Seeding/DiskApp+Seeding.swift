package import Screens

extension DiskApp {
    /// Accounts: `{"access_token"}`, whose account the API tells.
    package var seeding: Seeding {
        Seeding { [login = composition.login] fields, token in
            try fields.requireOnly("app", "access_token", "token")
            let access = try Sessions.broughtToken(fields)
            let info: DiskInfoRecord
            do {
                info = try await login.info(access)
            } catch let problem as Problem where problem.code == .invalidCredentials {
                throw Problem.validation([.field("/access_token", "invalid", "Yandex Disk does not accept it.")])
            }
            let session = try login.session(of: info)
            return SeedStep { db in
                let id = try login.sessions.seed(session, token: token, in: db)
                try login.store.link(session, id: id, info.space, access, db)
            }
        }
    }
}
