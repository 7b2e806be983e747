import Foundation
import HTTP
import HTTPTypes
import Storage

/// The moment that the times of made responses are relative to.
let noon = Date(timeIntervalSince1970: 1_767_700_000.125)

/// A response of made data; it was received `seconds` after ``noon``.
func makeCachedResponse(
    _ url: String = "https://ships.test/v4/ships",
    upstream: String = "ships",
    credential: CredentialHash? = nil,
    varying: HTTPFields = [:],
    body: StoredBody = .bytes(Data("[]".utf8)),
    seconds: Double = 0
) -> CachedResponse {
    CachedResponse(
        upstream: upstream,
        credential: credential,
        head: CachedResponseHead(
            url: url,
            varyingFields: varying,
            status: .ok,
            headerFields: [.contentType: "application/json", .eTag: "\"a\""],
            requestTime: noon + seconds - 0.25,
            responseTime: noon + seconds
        ),
        body: body
    )
}

extension ResponseStore {
    /// Returns the stored responses with the key of a response.
    func responses(like response: CachedResponse) throws -> [CachedResponse] {
        try responses(
            upstream: response.upstream,
            method: response.head.method,
            url: response.head.url,
            credential: response.credential
        )
    }
}
