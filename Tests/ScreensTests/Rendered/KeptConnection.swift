import HTTPTypes
import Logging
import NIOCore
import NIOHTTP1
import Upstream

@testable import Screens

/// A connection that keeps answers, and an application that marks its own.
struct KeptConnection {
    let answers: RenderedAnswers
    let connection: EmbeddedConnection

    init(_ limits: ConnectionLimits = .standard, budget: Int = 1 << 20, answers: RenderedAnswers? = nil) throws {
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        self.answers = answers ?? RenderedAnswers(budgetBytes: budget, run: "run", logger: logger)
        connection = try EmbeddedConnection(limits, rendered: self.answers)
    }

    var application: RecordingApplication { connection.application }
    var passed: Int { application.heads.count }

    static func head(_ path: String, _ fields: String = "", method: String = "GET") -> String {
        "\(method) \(path) HTTP/1.1\r\nHost: a\r\n\(fields)\r\n"
    }

    /// The mark of an answer that may be kept.
    func mark(_ validity: Validity, status: Int = 200, method: HTTPRequest.Method = .get) -> String {
        let labels = RequestLabels(method: method, route: "/", status: status)
        let record = RequestRecord(method: method, path: "/", status: status, measurements: RequestMeasurements(labels))
        return answers.expect(RenderingNote(validity: validity, record: record))
    }

    /// The application answers the request under way with an answer that may be kept.
    func answer(_ text: String, _ validity: Validity = .unlimited, fields: HTTPHeaders = [:]) {
        var headers: HTTPHeaders = ["Content-Length": "\(text.utf8.count)", RenderedAnswers.mark: mark(validity)]
        headers.add(contentsOf: fields)
        application.answer(text, headers: headers)
    }

    /// Asks, and has the application answer; gives what went out.
    func learn(_ head: String, _ text: String, _ validity: Validity = .unlimited, fields: HTTPHeaders = [:]) throws
        -> String
    {
        connection.receive(head)
        answer(text, validity, fields: fields)
        return try connection.sent()
    }
}
