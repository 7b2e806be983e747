import Foundation
import HTTPCaching
import HTTPTypes
import Screens
import Storage
import Upstream

extension ShipService {
    /// `GET /v1/ships/{id}/image`: the picture through the cache, or a placeholder that is not stored. Only URLs that
    /// the API named are ever fetched.
    @Sendable func image(_ request: ScreenRequest) async throws -> ScreenResponse {
        let session = try request.requiredSession()
        let ownValidity = store.changeToken(account: session.account)
        let ship = try visibleShip(try shipID(in: request), session)
        guard let url = ship.imageURL else { return .placeholder(CacheStatus(.hit, detail: "placeholder")) }
        do {
            guard let (reading, body) = try await picture(at: url, try request.cachePolicy()),
                let type = PictureType(of: body)
            else {
                return .placeholder(CacheStatus(.forward(.miss), detail: "placeholder"))
            }
            return .picture(
                body,
                type: type,
                provenance: reading.provenance,
                now: clock.now(),
                changeToken: reading.changeToken?.and(ownValidity)
            )
        } catch UpstreamError.notStored {
            throw UpstreamFailure(.notStored, of: api.upstream)
        } catch let error as UpstreamError {
            return .placeholder(
                CacheStatus(.forward(.uriMiss), forwardStatus: error.status?.code, detail: "placeholder")
            )
        }
    }

    /// A picture and where it comes from. The stored one may be evicted between the look and the opening of its file;
    /// the second look then fetches it.
    private func picture(at url: String, _ cachePolicy: CachePolicy) async throws -> (reading: ReadResult, body: Data)?
    {
        for _ in 0..<2 {
            let reading = try await api.upstream.read(api.picture(at: url), cachePolicy)
            if let response = reading.response, let body = try await store.bytes(of: response) {
                return (reading, body)
            }
        }
        return nil
    }
}
