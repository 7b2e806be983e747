import CZlib
import GRDB

/// Checks the system libraries that are linked.
enum Libraries {
    /// SQLite with the parts that Larder's tables use: FTS5 and R-tree.
    static func sqlite() -> Check {
        do {
            let (version, options) = try DatabaseQueue().read { db in
                (
                    try String.fetchOne(db, sql: "SELECT sqlite_version()") ?? "",
                    try String.fetchSet(db, sql: "PRAGMA compile_options")
                )
            }
            let missing = ["ENABLE_FTS5", "ENABLE_RTREE"].filter { !options.contains($0) }
            guard missing.isEmpty else {
                return Check(
                    "sqlite",
                    .broken,
                    "\(version) lacks \(missing.joined(separator: ", ")); install libsqlite3-0"
                )
            }
            return Check("sqlite", .well, "\(version) with FTS5 and R-tree")
        } catch {
            return Check("sqlite", .broken, "\(error); install libsqlite3-0")
        }
    }

    static func zlib() -> Check {
        Check("zlib", .well, String(cString: zlibVersion()))
    }
}
