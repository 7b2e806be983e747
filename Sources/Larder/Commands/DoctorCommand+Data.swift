import Database
import Foundation
import ResponseStore

/// Checks the data directory as the server does at its start, without changing it.
enum DataCheck {
    static func findings(at url: URL, migrations: [SchemaMigration]) -> [Check] {
        do {
            let directory = try DataDirectory(at: url)
            return [Check("data directory", .well, url.path)] + contents(of: directory, migrations)
        } catch StorageError.directoryInUse(_, let pid) {
            let owner = pid.map { "process \($0)" } ?? "another process"
            return [
                Check(
                    "data directory",
                    .well,
                    "\(url.path), in use by \(owner); its /health/ready tells of its database"
                )
            ]
        } catch {
            return [Check("data directory", .broken, "\(error)")]
        }
    }

    private static func contents(of directory: DataDirectory, _ migrations: [SchemaMigration]) -> [Check] {
        do {
            var cached: String?
            let found = try DirectoryCheck(
                of: directory,
                migrations: migrations,
                options: .init(integrityCheck: .always)
            ) { db in
                let totals = try ResponseStore.totals(in: db)
                let (responses, bytes) = (totals.reduce(0) { $0 + $1.responses }, totals.reduce(0) { $0 + $1.bytes })
                cached = "\(responses) stored responses, \(bytes) bytes"
            }
            guard !found.isNew else {
                return [Check("database", .well, "none yet; the first start of larder serve creates it")]
            }
            let database = Check(
                "database",
                .well,
                "whole; \(cached ?? "of an older build, which larder serve brings up to date")"
            )
            return [database] + blobs(found)
        } catch {
            return [Check("database", .broken, "\(error)")]
        }
    }

    private static func blobs(_ found: DirectoryCheck) -> [Check] {
        let files = HumanReadable.count(found.blobs, "file")
        var findings = [
            found.faults().map {
                Check("blobs", .broken, "\(files) named by rows; \($0); restore them from a backup")
            }
        ].compactMap(\.self)
        if let strangers = found.strangers() {
            findings.append(Check("blobs", .degraded, "\(strangers); no row names them, and nothing removes them"))
        }
        return findings.isEmpty ? [Check("blobs", .well, files)] : findings
    }
}
