import Concurrency
import Foundation
import HTTPTypes
import TestKit
import Testing
import Upstream

@testable import Screens

struct ProblemMiddlewareTests {
    private static let failures: [(UpstreamError, String)] = [
        (.badResponse(status: .ok, reason: "not a list"), "an unusable response with 200 (not a list)"),
        (.unreachable(.refused), "no response (refused)"),
        (.failing(status: .badGateway, retryAfter: nil), "failed with 502"),
    ]

    @Test("SRV-12 a response of 5xx leaves a line with its cause", arguments: failures)
    func cause(error: UpstreamError, text: String) async throws {
        let log = LogRecorder()
        let upstream = try Self.upstream()
        let route = Route(.get, "/v1/fails", "fails") { _ in throw UpstreamFailure(error, of: upstream) }
        var harness = try ScreenHarness([route])
        harness.logger = log.logger
        let served = try await harness.serve(.get, "/v1/fails")
        #expect(served.status.kind == .serverError)
        let lines = log.lines.filter { $0.contains("the request failed") }
        #expect(lines.count == 1)
        for part in ["notice", text, "spacex", try #require(try served.code())] {
            #expect(lines.first?.contains(part) == true, "\(part): \(lines)")
        }
    }

    @Test("SRV-12 SRV-11 what the client caused leaves no such line, and no line holds what an upstream sent")
    func noCause() async throws {
        let log = LogRecorder()
        let upstream = try Self.upstream()
        let refused = UpstreamError.rejected(status: .badRequest, body: Array("hunter2".utf8))
        var harness = try ScreenHarness([
            Route(.get, "/v1/refused", "refused") { _ in throw UpstreamFailure(refused, of: upstream) },
            Route(.get, "/v1/absent", "absent") { _ in throw UpstreamFailure(.notStored, of: upstream) },
            Route(.get, "/v1/problem", "problem") { _ in throw Problem.notFound("There is no such ship.") },
        ])
        harness.logger = log.logger
        for path in ["/v1/absent", "/v1/problem"] { _ = try await harness.serve(.get, path) }
        #expect(!log.lines.contains { $0.contains("the request failed") })
        #expect(try await harness.serve(.get, "/v1/refused").status == .badGateway)
        #expect(log.lines.contains { $0.contains("refused with 400") })
        #expect(!log.lines.contains { $0.contains("hunter2") || $0.contains("such ship") })
    }

    private static func upstream() throws -> Upstream {
        Upstream(
            configuration: .init(
                name: "spacex",
                title: "SpaceX",
                baseURL: try #require(URL(string: "https://api.test"))
            ),
            transport: NoTransport(),
            database: try .temporary(),
            clock: WallClock(now: { ten }, sleep: { _ in throw CancellationError() }),
            logger: .quiet
        )
    }
}
