import Dispatch
import Synchronization
import TestKit
import Testing

@testable import Upstream

@Suite(.timeLimit(.minutes(10)))
struct UpstreamFetchLargeTests {
    /// Number of validations that run, and the most at a time.
    private struct Load {
        var running = 0
        var most = 0
        var begun = 0
        /// When the validations that are held end by themselves.
        var end: DispatchTime?
    }

    @Test("TRUST-19 Large responses are read one after the other, beside the threads of the requests")
    func oneAfterTheOther() async throws {
        let scene = try Scenario(attempts: 1)
        let load = Watched(Load())
        let isReleased = DispatchSemaphore(value: 0)
        scene.transport.always { request in
            let spaces = request.url.hasSuffix("/small") ? 0 : Upstream.largestReadAtOnce
            return .json(String(repeating: " ", count: spaces) + "[]")
        }
        let reads = (0..<16).map { number in
            var large = scene.list("/large/\(number)")
            large.validate = { (_) in
                let end = load.update {
                    $0.begun += 1
                    $0.running += 1
                    $0.most = max($0.most, $0.running)
                    let end = $0.end ?? .now() + 10
                    $0.end = end
                    return end
                }
                // Not for ever: a thread of the pool would never come back.
                _ = isReleased.wait(timeout: end)
                load.update { $0.running -= 1 }
                return .none
            }
            return Task { [large] in try await scene.upstream.read(large) }
        }
        await load.until { $0.begun > 0 }
        await scene.transport.requests(16)
        let small = try await scene.upstream.read(scene.list("/small"))
        #expect(try scene.body(of: small.response) == "[]")
        #expect(load.value.begun == 1, "a small response is read while a large one is")
        for _ in reads { isReleased.signal() }
        for read in reads { _ = try await read.value }
        #expect(load.value.begun == 16 && load.value.most == 1)
    }
}
