import Concurrency
import Foundation
import HTTP
import Media
import Screens
import Storage
import Synchronization

/// Runs work that takes time, publishes its progress to the request's profile, and turns failures of Media's into
/// problems.
struct DocumentJobs: Sendable {
    /// Receives the progress of a job, from 0 to 1; on any thread.
    typealias Progress = @Sendable (Double) -> Void

    let pdf: PDF

    /// Runs a job. Its id is the request's `X-Request-Id`, which the client may choose. If the client leaves, the
    /// job is cancelled.
    ///
    /// - Parameter titles: the names of the client's files, in the order of Media's inputs.
    /// - Throws: ``Problem`` for a failure of Media's that the client can act on; errors of `body`.
    func run<Result: Sendable>(
        _ request: ScreenRequest,
        titles: [String] = [],
        _ body: @escaping @Sendable (_ progress: @escaping Progress) async throws -> Result
    ) async throws -> Result {
        let (events, id) = (pdf.events, request.requestID)
        let audience = ServerEvent.Audience.profile(app: PDFApp.name, profile: try request.profile())
        let publish = { @Sendable (status: String, progress: Double) in
            events.publish(
                .job(
                    app: PDFApp.name,
                    id: id,
                    kind: "conversion",
                    state: status,
                    progress: progress,
                    audience: audience
                )
            )
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

    /// Runs a job that changes a document. If the document is a draft that expires meanwhile, the error is that, not a
    /// consequence of its missing file.
    ///
    /// - Throws: ``Problem``, 404 if the document does not exist; the errors of ``run(_:titles:_:)``.
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
            _ = try await pdf.lookup.document(document.id, profile: profile)
            throw error
        }
    }
}

extension JobProgress {
    /// The part of the job that is done, from 0 to 1.
    var fraction: Double { total > 0 ? Double(done) / Double(total) : 0 }
}

/// Publishes the progress of a job in steps of 5 %, each once and never backwards, so that clients see that something
/// happens and are not flooded.
final class ProgressReport: Sendable {
    private static let step = 5

    private let published = Mutex(-1)
    private let publish: @Sendable (_ percent: Int) -> Void

    init(publish: @escaping @Sendable (_ percent: Int) -> Void) {
        self.publish = publish
    }

    /// Takes the progress, from 0 to 1. 100 % is not published: the end of the job has an event of its own.
    func update(_ progress: Double) {
        let percent = Int(max(0, min(0.99, progress.isNaN ? 0 : progress)) * 100) / Self.step * Self.step
        published.withLock { published in
            guard percent > published else { return }
            published = percent
            publish(percent)
        }
    }

    /// The last published progress, from 0 to 1.
    var reached: Double { published.withLock { Double(max(0, $0)) / 100 } }
}
