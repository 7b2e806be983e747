import Foundation
import HTTPTypes
import Screens
import Storage
import Upstream

extension DocumentService {
    /// Runs something that takes time, and tells on `/v1/events` how it goes: the job's id is the request's
    /// `X-Request-Id`, which the client may choose.
    ///
    /// `titles` names the files that the engine may find fault with, in its order.
    func job<Result: Sendable>(
        _ request: ScreenRequest,
        titles: [String] = [],
        isolation: isolated (any Actor)? = #isolation,
        _ body: (_ progress: @escaping DocumentEngine.Progress) async throws -> Result
    ) async throws -> Result {
        let (events, id) = (self.events, request.requestID)
        func event(_ status: String, _ progress: Double) -> ServerEvent {
            .job(app: "pdf", id: id, status: status, progress: progress, audience: .everyone)
        }
        let report = ProgressReport { percent in
            events.publish(
                .job(app: "pdf", id: id, status: "running", progress: Double(percent) / 100, audience: .everyone)
            )
        }
        report.tell(0)
        do {
            let result = try await body { report.tell($0) }
            events.publish(event("done", 1))
            return result
        } catch {
            events.publish(event("failed", report.reached))
            guard let error = error as? DocumentEngineError else { throw error }
            throw Problem(error, titles: titles)
        }
    }
}

extension DocumentService {
    /// The same for the change of a document. A draft whose time ends meanwhile is gone, which is told rather than what
    /// its missing file led to.
    func job<Result: Sendable>(
        _ request: ScreenRequest,
        on document: Document,
        profile: String,
        isolation: isolated (any Actor)? = #isolation,
        _ body: (_ progress: @escaping DocumentEngine.Progress) async throws -> Result
    ) async throws -> Result {
        do {
            return try await job(request, body)
        } catch {
            guard try store.document(document.id, profile: profile, at: clock.now()) != nil else {
                throw Self.unknown(document.id)
            }
            throw error
        }
    }
}

extension Problem {
    /// What a client is told of a file that the engine could not work with. `titles` are the names of the files, in the
    /// engine's order.
    init(_ error: DocumentEngineError, titles: [String]) {
        func problem(_ code: ProblemCode, _ source: Int?, _ fault: String) -> Problem {
            guard let source, titles.indices.contains(source) else { return Problem(code, "The document \(fault).") }
            let detail = "\(titles[source]) \(fault)."
            return Problem(code, detail, errors: [.field("/files/\(source)", code.rawValue, detail)])
        }
        self =
            switch error {
            // A file of Larder's own that is no PDF any more: nobody has sent it.
            case .unsupported(nil): problem(.damaged, nil, "is damaged or incomplete")
            case .unsupported(let source):
                problem(.unsupportedMediaType, source, "cannot be used; accepted: \(FileKind.accepted)")
            case .damaged(let source): problem(.damaged, source, "is damaged or incomplete")
            case .encrypted(let source): problem(.encrypted, source, "is protected by a password")
            case .tooManyBytes(let source, let limit): problem(.tooLarge, source, "has more than \(limit >> 20) MiB")
            case .tooManyPixels(let source, let limit):
                problem(.tooLarge, source, "has more than \(limit / 1_000_000) million pixels")
            case .tooManyPages(let source, let limit):
                problem(.tooManyPages, source, "would have more than \(limit) pages")
            case .tooLarge(let source): problem(.tooLarge, source, "takes more memory or disk than one job may have")
            case .timedOut(let source): problem(.timedOut, source, "takes longer to work on than one job may")
            case .noGlyphs:
                .validation([.field("/text", "no-glyphs", "No installed font has any character of the text.")])
            case .overloaded: Problem(.overloaded, "Too many jobs wait already.", headerFields: [.retryAfter: "5"])
            case .toolMissing(let tool, let package):
                Problem(
                    .toolMissing,
                    "\(tool) is not there; on Debian it needs \(package). Everything that does not need it works."
                )
            }
    }
}
