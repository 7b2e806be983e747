import HTTPTypes
import TestKit
import Testing
import Upstream

@testable import Proxy

struct ForwardedResponseTests {
    @Test("TRUST-01 A status from 600 to 999 is 502 of a mount (RFC 9110 §15)", arguments: [600, 999])
    func processedAsServerError(code: Int) async throws {
        let mounted = try MountScenario()
        let status = HTTPResponse.Status(code: code)
        mounted.scene.transport.then(response(status, "odd", fields: [.cacheControl: "max-age=60"]))
        let seen = try await mounted.ask()
        #expect(seen.status == 502 && seen.body == "odd")
        #expect(mounted.scene.upstream.reachability.lastError?.reason == "status \(code)")
    }
}
