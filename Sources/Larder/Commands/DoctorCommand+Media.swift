import Foundation
import Media

/// Checks the programs that work on pictures and documents. Everything else works without them, so a missing one is
/// only a warning, and a missing optional one not even that.
enum MediaCheck {
    static func findings(_ configuration: MediaConfiguration) async throws -> [Check] {
        let folder = FileManager.default.temporaryDirectory.appending(
            path: "larder-doctor-\(UUID().uuidString)",
            directoryHint: .isDirectory
        )
        defer { try? FileManager.default.removeItem(at: folder) }
        let engine = try MediaEngine(tools: configuration.tools, limits: configuration.limits, folder: folder)
        return await engine.selfTest().map { found in
            let subject = found.tool.executable + (found.ability.map { " (\($0))" } ?? "")
            let verdict: Check.Verdict = found.works == true ? .well : found.tool.isOptional ? .absent : .degraded
            return Check(subject, verdict, found.detail)
        }
    }
}
