import AppInterface
import Database
import Disk
import Notes
import PDF
import ResponseStore
import Screens
import SharedStore
import Ships
import Shop

/// The apps of a server, in the order of the index. What an app offers to others, it offers to those behind it.
struct AppList: Sendable {
    /// The apps of Larder.
    static let standard = AppList([DiskApp.self, PDFApp.self, ShipsApp.self, ShopApp.self, NotesApp.self])

    let types: [any App.Type]

    init(_ types: [any App.Type]) {
        self.types = types
    }

    /// The upstreams of all apps.
    var upstreams: [UpstreamDescription] { types.flatMap { $0.upstreams } }

    /// The steps that make all tables.
    var migrations: [SchemaMigration] {
        CacheTables.migrations + SessionStore.migrations + types.flatMap { $0.migrations } + DeviceStore.migrations
    }

    /// The steps that make the tables of a store that several servers share.
    var sharedMigrations: [SharedMigration] {
        SessionStore.sharedMigrations + types.flatMap { $0.sharedMigrations ?? [] }
    }

    /// Whether one of them stores sealed secrets there.
    var sealsSharedSecrets: Bool { types.contains { $0.sealsSharedSecrets } }

    /// What all apps store beside the cache.
    var storedAmounts: [StoredAmount] { types.flatMap { $0.storedAmounts } }

    /// Every problem code that the server may send.
    var problems: [ProblemCode] { ProblemCode.common + types.flatMap { $0.problems } }
}
