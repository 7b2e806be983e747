import CZlib
import GRDB

/// What the doctor says of the system libraries that are linked.
enum Libraries {
    /// SQLite with the parts that Larder's tables use: FTS5 and R-tree.
    static func sqlite() -> Finding {
        do {
            let (version, options) = try DatabaseQueue().read { db in
                (
                    try String.fetchOne(db, sql: "SELECT sqlite_version()") ?? "",
                    try String.fetchSet(db, sql: "PRAGMA compile_options")
                )
            }
            let missing = ["ENABLE_FTS5", "ENABLE_RTREE"].filter { !options.contains($0) }
            guard missing.isEmpty else {
                return Finding(
                    "sqlite",
                    .broken,
                    "\(version) lacks \(missing.joined(separator: ", ")); install libsqlite3-0"
                )
            }
            return Finding("sqlite", .well, "\(version) with FTS5 and R-tree")
        } catch {
            return Finding("sqlite", .broken, "\(error); install libsqlite3-0")
        }
    }

    static func zlib() -> Finding {
        Finding("zlib", .well, String(cString: zlibVersion()))
    }
}
