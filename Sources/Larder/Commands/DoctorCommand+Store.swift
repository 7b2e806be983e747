import Logging
import SharedStore

/// Checks the store that several servers share, and changes nothing.
enum StoreCheck {
    static func finding(_ configuration: StoreConfiguration, _ apps: AppList) async -> Check {
        let database = SharedDatabase(
            configuration.options,
            logger: Logger(label: "doctor") { _ in SwiftLogNoOpLogHandler() }
        )
        defer { database.close() }
        do {
            let missing = try await database.missing(of: apps.sharedMigrations)
            let state = missing.isEmpty ? "with the tables of this build" : "larder serve will add tables to it"
            return Check("store", .well, "PostgreSQL responds; \(state)")
        } catch {
            return Check("store", .broken, "\(error)")
        }
    }
}
