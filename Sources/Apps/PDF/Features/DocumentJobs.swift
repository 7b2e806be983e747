import Database
import Foundation
import Freshness
import Media
import Screens

/// Runs work that takes time, publishes its progress to the request's profile, and turns failures of Media's into
/// problems.
struct DocumentJobs: Sendable {
    /// Receives how far a job is, from 0 to 1; on any thread.
    typealias Progress = @Sendable (Double) -> Void

    let events: EventStream
    let lookup: DocumentLookup

    /// Runs a job. Its id is the request's `X-Request-Id`, which the client may choose. If the client leaves, the
    /// job is cancelled.
    ///
    /// - Parameter titles: the names of the client's files, in the order of Media's inputs.
    /// - Throws: ``Problem`` for a failure of Media's that the client can act on; what `body` throws.
    func run<Result: Sendable>(
        _ request: ScreenRequest,
        titles: [String] = [],
        _ body: @escaping @Sendable (_ progress: @escaping Progress) async throws -> Result
    ) async throws -> Result {
        let (events, id) = (self.events, request.requestID)
        let audience = ServerEvent.Audience.profile(app: PDFApp.name, profile: try request.profile())
        let publish = { @Sendable (status: String, progress: Double) in
            events.publish(.job(app: PDFApp.name, id: id, status: status, progress: progress, audience: audience))
        }
        let report = ProgressReport { percent in publish("running", Double(percent) / 100) }
        report.update(0)
        do {
            let result = try await request.whileClientWaits { try await body { report.update($0) } }
            publish("done", 1)
            return result
        } catch {
            publish("failed", report.reached)
            throw Problem(error, titles: titles) ?? error
        }
    }

    /// Runs a job that changes a document. If the document is a draft that expires meanwhile, the error says so, rather
    /// than what its missing file has caused.
    ///
    /// - Throws: ``Problem``, 404 if the document does not exist; what ``run(_:titles:_:)`` throws.
    func run<Result: Sendable>(
        _ request: ScreenRequest,
        on document: Document,
        profile: String,
        titles: [String] = [],
        _ body: @escaping @Sendable (_ progress: @escaping Progress) async throws -> Result
    ) async throws -> Result {
        do {
            return try await run(request, titles: titles, body)
        } catch {
            _ = try await lookup.document(document.id, profile: profile)
            throw error
        }
    }
}

extension JobProgress {
    /// The part of the job that is done, from 0 to 1.
    var fraction: Double { total > 0 ? Double(done) / Double(total) : 0 }
}
