import Foundation
import Logging
import Storage

/// What the doctor finds in the data directory.
enum DataExamination {
    static func findings(at url: URL) -> [Finding] {
        let quiet = Logger(label: "doctor", factory: { _ in SwiftLogNoOpLogHandler() })
        do {
            let directory = try DataDirectory(at: url)
            let found = [Finding("data directory", .well, url.path)]
            do {
                let database = try LarderDatabase(in: directory, migrations: Composition.migrations, options: .init(integrityCheck: .always), logger: quiet)
                defer { try? database.close() }
                let totals = try ResponseStore(database).totals()
                let answers = totals.reduce(0) { $0 + $1.responses }
                let bytes = totals.reduce(0) { $0 + $1.bytes }
                return found + [Finding("database", .well, "whole; \(answers) stored answers, \(bytes) bytes")]
            } catch {
                return found + [Finding("database", .broken, "\(error)")]
            }
        } catch StorageError.directoryInUse(_, let pid) {
            let owner = pid.map { "process \($0)" } ?? "another process"
            return [Finding("data directory", .well, "\(url.path), in use by \(owner); its /health/ready tells of its database")]
        } catch {
            return [Finding("data directory", .broken, "\(error)")]
        }
    }
}
