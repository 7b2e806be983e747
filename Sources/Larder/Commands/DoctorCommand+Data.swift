import AppInterface
import Database
import Foundation
import GRDB
import ResponseStore

/// Checks the data directory as the server does at its start, and more: all pages, references between rows, and, if
/// asked to, the content of all files. Changes nothing.
enum DataCheck {
    static func findings(
        at url: URL,
        migrations: [SchemaMigration],
        amounts: [StoredAmount],
        readsFiles: Bool,
        progress: @escaping ProgressReceiver
    ) -> [Check] {
        do {
            let directory = try DataDirectory(at: url)
            return [Check("data directory", .well, url.path)]
                + contents(of: directory, migrations, amounts, readsFiles, progress)
        } catch StorageError.directoryInUse(_, let pid) {
            let owner = pid.map { "process \($0)" } ?? "another process"
            let detail = "\(url.path), in use by \(owner); its /health/ready tells of its database"
            return [Check("data directory", .well, detail)]
        } catch {
            return [Check("data directory", .broken, "\(error)")]
        }
    }

    private static func contents(
        of directory: DataDirectory,
        _ migrations: [SchemaMigration],
        _ amounts: [StoredAmount],
        _ readsFiles: Bool,
        _ progress: @escaping ProgressReceiver
    ) -> [Check] {
        do {
            var cached: String?
            let found = try DirectoryCheck(
                of: directory,
                migrations: migrations,
                options: .init(integrityCheck: .always),
                readsFiles: readsFiles,
                inspect: { db in
                    let totals = try ResponseStore.totals(in: db)
                    let responses = totals.reduce(0) { $0 + $1.responses }
                    cached = "\(responses) stored responses, \(totals.reduce(0) { $0 + $1.bytes }) bytes"
                    for amount in amounts {
                        guard let bytes = try Int.fetchOne(db, sql: amount.sql) else { continue }
                        cached?.append("; \(amount.title): \(bytes) bytes")
                    }
                },
                progress: progress
            )
            guard !found.isNew else {
                return [Check("database", .well, "none yet; the first start of larder serve creates it")]
            }
            let state = cached ?? "of an older build, which larder serve brings up to date"
            return [Check("database", .well, "whole; \(state)")] + blobs(found.files, readsFiles)
        } catch {
            return [Check("database", .broken, "\(IntegrityCheck.naming(error))")]
        }
    }

    private static func blobs(_ found: BlobCheck, _ areRead: Bool) -> [Check] {
        let files = HumanReadable.count(found.count, "file")
        var findings: [Check] = []
        if let faults = found.faults() {
            findings.append(
                Check("blobs", .broken, "\(files) named by rows; \(faults); restore them from a backup")
            )
        }
        if let strangers = found.strangers() {
            findings.append(Check("blobs", .degraded, "\(strangers); no row names them, and nothing removes them"))
        }
        let unread = areRead || found.count == 0 ? "" : "; --deep compares their content"
        return findings.isEmpty ? [Check("blobs", .well, files + unread)] : findings
    }
}
