import HTTPTypes
import Logging
import NIOCore
import NIOHTTP1
import Upstream

@testable import Screens

/// A connection that keeps answers, and an application that marks its own.
struct KeptConnection {
    let responses: ResponseCache
    let connection: EmbeddedConnection

    init(_ limits: ConnectionLimits = .standard, budget: Int = 1 << 20, responses: ResponseCache? = nil) throws {
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        self.responses = responses ?? ResponseCache(budgetBytes: budget, run: "run", logger: logger)
        connection = try EmbeddedConnection(limits, rendered: self.responses)
    }

    var application: RecordingApplication { connection.application }
    var passed: Int { application.heads.count }

    static func head(_ path: String, _ fields: String = "", method: String = "GET") -> String {
        "\(method) \(path) HTTP/1.1\r\nHost: a\r\n\(fields)\r\n"
    }

    /// The mark of a response that may be kept.
    func mark(_ changeToken: ChangeToken, status: Int = 200, method: HTTPRequest.Method = .get) -> String {
        let labels = RequestLabels(method: method, route: "/", status: status)
        let record = RequestRecord(method: method, path: "/", status: status, measurements: RequestMeasurements(labels))
        return responses.expect(CacheTicketNote(changeToken: changeToken, record: record))
    }

    /// The application answers the request under way with a response that may be kept.
    func respond(_ text: String, _ changeToken: ChangeToken = .unlimited, fields: HTTPHeaders = [:]) {
        var headers: HTTPHeaders = ["Content-Length": "\(text.utf8.count)", ResponseCache.mark: mark(changeToken)]
        headers.add(contentsOf: fields)
        application.respond(text, headers: headers)
    }

    /// Asks, and has the application answer; gives what went out.
    func learn(_ head: String, _ text: String, _ changeToken: ChangeToken = .unlimited, fields: HTTPHeaders = [:])
        throws
        -> String
    {
        connection.receive(head)
        respond(text, changeToken, fields: fields)
        return try connection.sent()
    }
}
