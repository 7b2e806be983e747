import Foundation
import HTTPTypes
import Storage
import TestKit
import Testing
import Upstream

@testable import Shop

@Suite("Reads on a full disk", .timeLimit(.minutes(10)))
struct FullDiskTests {
    private static let rows = (1...4).map { #"{"id":\#($0),"title":"P\#($0)","price":1}"# }.joined(separator: ",")

    /// A list that is confirmed by its entity tag, and product 2, which the API says is gone when it is asked for it.
    private static func respond(_ request: OutgoingRequest) -> IncomingResponse {
        if request.url.hasSuffix("/products/2") {
            let error = #"{"name":"EntityNotFoundError","path":"/api/v1/products/2"}"#
            return .json(error, status: .badRequest)
        }
        let fields: HTTPFields = [.eTag: #""a""#]
        return request.headerFields[.ifNoneMatch] == nil
            ? .json("[\(rows)]", headerFields: fields) : IncomingResponse(status: .notModified, headerFields: fields)
    }

    @Test("TRUST-02 each system call of a read finds no space: a product that is back is shown all the same")
    func back() async throws {
        let directory = try DataDirectory.temporary()
        let disk = try FaultScope(directory.path)
        try await ShopHarness.run(directory: directory) { (app) async throws in
            app.transport.always { (request) throws(UpstreamError) in Self.respond(request) }
            #expect(try await app.get("/v1/shop/search?limit=3").ids == [1, 2, 3])
            for step in 1..<500 {
                try await app.get("/v1/shop/products/2?refresh=1").expectProblem("not-found", 404)
                #expect(try await app.get("/v1/shop/search?limit=3").ids == [1, 3, 4])
                let (shown, hasFailed) = await disk.failing(.noRoomOnce, at: step) {
                    try? await app.get("/v1/shop/search?limit=3&refresh=1")
                }
                // An fsync that fails once, on a disk that has space again, is an error of the disk.
                let isFsync = shown?.status == 500 && shown?["code"] == "storage-failed"
                let isShown = shown?.status == 200 && shown?["meta.offline"] == false
                #expect(isShown || isFsync, "step \(step): \(shown?.text ?? "")")
                #expect(shown?.cacheStatus?.contains("bad-response") != true, "step \(step)")
                #expect(try await app.get("/v1/shop/search?limit=3&refresh=1").ids == [1, 2, 3], "step \(step)")
                guard hasFailed else { return #expect(step > 2) }
            }
        }
    }
}
