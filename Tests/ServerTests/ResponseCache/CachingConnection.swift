import Concurrency
import HTTPTypes
import Logging
import NIOCore
import NIOHTTP1
import TestKit

@testable import Server

/// A connection with a response cache, and an application that annotates its responses.
struct CachingConnection {
    let responses: ResponseCache
    let connection: EmbeddedConnection

    init(
        _ limits: ConnectionLimits = .standard,
        budget: Int = 1 << 20,
        responses: ResponseCache? = nil,
        clientUnits: Int = EmbeddedConnection.manyUnits
    ) throws {
        let logger = Logger.quiet
        self.responses = responses ?? ResponseCache(budgetBytes: budget, run: "run", logger: logger)
        connection = try EmbeddedConnection(limits, responseCache: self.responses, clientUnits: clientUnits)
    }

    var application: RecordingApplication { connection.application }
    var passed: Int { application.heads.count }

    static func head(_ path: String, _ fields: String = "", method: String = "GET") -> String {
        "\(method) \(path) HTTP/1.1\r\nHost: a\r\n\(fields)\r\n"
    }

    /// Annotates the response under way as one that may be cached.
    func annotate(_ changeToken: ChangeToken, status: Int = 200, method: HTTPRequest.Method = .get) {
        let labels = RequestLabels(method: method, route: "/", status: status)
        let record = RequestRecord(method: method, path: "/", status: status, measurements: RequestMeasurements(labels))
        connection.annotations.update {
            $0.changeToken = changeToken
            $0.record = record
        }
    }

    /// Has the application respond to the request under way with a response that may be cached.
    func respond(_ text: String, _ changeToken: ChangeToken = .unlimited, fields: HTTPHeaders = [:]) {
        var headers: HTTPHeaders = ["Content-Length": "\(text.utf8.count)"]
        headers.add(contentsOf: fields)
        annotate(changeToken)
        application.respond(text, headers: headers)
    }

    /// Sends a head and has the application respond; returns the bytes of the response as text.
    func record(_ head: String, _ text: String, _ changeToken: ChangeToken = .unlimited, fields: HTTPHeaders = [:])
        throws
        -> String
    {
        connection.receive(head)
        respond(text, changeToken, fields: fields)
        return try connection.sent()
    }
}
