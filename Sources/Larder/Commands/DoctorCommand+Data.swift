import Foundation
import Storage

/// What the doctor finds in the data directory: what the server finds at its start, and it changes nothing.
enum DataExamination {
    static func findings(at url: URL) -> [Finding] {
        do {
            let directory = try DataDirectory(at: url)
            return [Finding("data directory", .well, url.path)] + contents(of: directory)
        } catch StorageError.directoryInUse(_, let pid) {
            let owner = pid.map { "process \($0)" } ?? "another process"
            return [
                Finding(
                    "data directory",
                    .well,
                    "\(url.path), in use by \(owner); its /health/ready tells of its database"
                )
            ]
        } catch {
            return [Finding("data directory", .broken, "\(error)")]
        }
    }

    private static func contents(of directory: DataDirectory) -> [Finding] {
        do {
            let found = try DirectoryExamination(
                of: directory,
                migrations: Composition.migrations,
                options: .init(integrityCheck: .always)
            )
            guard !found.isNew else {
                return [Finding("database", .well, "none yet; the first start of larder serve creates it")]
            }
            let stored = found.stored.map { "\($0.responses) stored answers, \($0.bytes) bytes" }
            let database = Finding(
                "database",
                .well,
                "whole; \(stored ?? "of an older build, which larder serve brings up to date")"
            )
            return [database] + blobs(found)
        } catch {
            return [Finding("database", .broken, "\(error)")]
        }
    }

    private static func blobs(_ found: DirectoryExamination) -> [Finding] {
        let files = Amount.count(found.blobs, "file")
        var findings = [
            found.faults().map {
                Finding("blobs", .broken, "\(files) named by rows; \($0); restore them from a backup")
            }
        ].compactMap(\.self)
        if let strangers = found.strangers() {
            findings.append(Finding("blobs", .degraded, "\(strangers); no row names them, and nothing removes them"))
        }
        return findings.isEmpty ? [Finding("blobs", .well, files)] : findings
    }
}
