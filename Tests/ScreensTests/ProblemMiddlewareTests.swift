import Cluster
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

    @Test("SRV-12 SCALE-23 Requests that fail for want of the store have one line with their number, not two each")
    func storm() async throws {
        let (log, clock) = (LogRecorder(), ManualClock())
        let isAway = Watched(true)
        let routes = [
            Route(.get, "/v1/notes", "notes") { _ in
                if isAway.value { throw ClusterError.unavailable(.timedOut) }
                return plain("{}")
            },
            Route(.post, "/v1/notes", "notes") { _ in throw Problem(.storeUnavailable, "away") },
        ]
        var harness = try ScreenHarness(routes, clock: clock.wallClock)
        harness.logger = log.logger
        for number in 0..<20 {
            let method: HTTPRequest.Method = number % 2 == 0 ? .get : .post
            #expect(try await harness.serve(method, "/v1/notes").status == .serviceUnavailable)
            if number == 9 {
                await clock.sleepers(of: StoreOutages.pause)
                clock.advance(by: .seconds(4))
            }
        }
        #expect(log.lines.count == 1 && log.lines[0].hasPrefix("error the shared store cannot be used"), "\(log.lines)")
        clock.advance(by: .seconds(2))
        await clock.sleepers(of: StoreOutages.pause)
        #expect(log.lines.count == 1, "it is not over yet")
        clock.advance(by: .seconds(5))
        await BoundedWait.poll(for: "the number of requests") { log.lines.count == 2 }
        let line = try #require(log.lines.last)
        for part in ["error 503 store-unavailable", #""count": 20"#, #""seconds": 4.0"#] {
            #expect(line.contains(part))
        }
        // Another request has its line, and the next outage its own.
        isAway.update { $0 = false }
        #expect(try await harness.serve(.get, "/v1/notes").status == .ok)
        #expect(log.lines.count == 3 && log.lines[2].contains("request"))
        #expect(try await harness.serve(.post, "/v1/notes").status == .serviceUnavailable)
        #expect(log.lines.count == 4 && log.lines[3].contains("the shared store cannot be used"))
        clock.advance(by: .seconds(120))
    }

    @Test("SRV-12 SCALE-23 Each cause of an outage has its line, and a server that stops writes the number at once")
    func causes() async throws {
        let (log, clock) = (LogRecorder(), ManualClock())
        let cause = Watched(ClusterError.unavailable(.timedOut))
        let routes = [Route(.get, "/v1/notes", "notes") { _ in throw cause.value }]
        var harness = try ScreenHarness(routes, clock: clock.wallClock)
        harness.logger = log.logger
        var reasons: [ClusterError.Unavailability] = [.timedOut, .notReached("refused"), .timedOut]
        reasons += (0..<20).map { .notReached("port \($0)") }
        for reason in reasons {
            cause.update { $0 = .unavailable(reason) }
            #expect(try await harness.serve(.get, "/v1/notes").status == .serviceUnavailable)
        }
        let lines = log.lines
        #expect(lines.count == StoreOutages.mostCauses && lines[1].contains("refused"), "\(lines)")
        harness.outages.end()
        #expect(log.lines.count == lines.count + 1 && log.lines.last?.contains(#""count": 23"#) == true)
        clock.advance(by: .seconds(120))
        harness.outages.end()
        #expect(log.lines.count == lines.count + 1, "it is told once")
    }

    @Test("A read without an upstream says that this server has no copy; a change does not")
    func noCopy() async throws {
        let upstream = try Self.upstream()
        let fails: Route.Handler = { _ in throw UpstreamFailure(.unreachable(.refused), of: upstream) }
        let harness = try ScreenHarness([
            Route(.get, "/v1/fails", "fails", fails), Route(.post, "/v1/fails", "fails", fails),
        ])
        let (read, change) = (
            try await harness.serve(.get, "/v1/fails"), try await harness.serve(.post, "/v1/fails")
        )
        let text = "The service cannot be reached at the moment"
        #expect(read.text.contains(#""detail":"\#(text), and this server has no copy.""#), "\(read.text)")
        #expect(change.text.contains(#""detail":"\#(text).""#), "\(change.text)")
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
