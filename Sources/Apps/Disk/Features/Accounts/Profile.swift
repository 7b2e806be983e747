import Foundation
import HTTPTypes
import Screens
import Upstream

extension DiskService {
    /// `GET /v1/disk/profile`.
    @Sendable func profile(_ request: ScreenRequest) async throws -> ScreenResponse {
        let (account, reading) = try await sizes(request)
        let provenance = reading.provenance
        let meta = Meta(screen: "disk.profile", provenance: provenance, banner: provenance.offline ? .diskOffline : nil)
        return try .screen(
            Envelope(data: ProfileScreen(account), meta: meta, links: Links(self: request.selfLink)),
            provenance: provenance,
            now: clock.now(),
            changeToken: reading.changeToken
        )
    }

    /// `GET /v1/disk/profile/chart.svg`.
    @Sendable func chart(_ request: ScreenRequest) async throws -> ScreenResponse {
        let (account, reading) = try await sizes(request)
        var fields: HTTPFields = [.cacheControl: "private, no-cache", .vary: "Authorization"]
        fields.add(reading.provenance, now: clock.now())
        return ScreenResponse(
            headerFields: fields,
            body: .bytes(Data(ProfileChart.svg(account).utf8), type: "image/svg+xml; charset=utf-8"),
            changeToken: reading.changeToken
        )
    }

    private func sizes(_ request: ScreenRequest) async throws -> (DiskAccount, ReadResult) {
        let account = try await account(of: request)
        let ownValidity = store.changeToken(account: account.id)
        var reading = try await read(account, try request.cachePolicy()) { token, _ in
            api.info(token, account: account.id) { store.persistRows(of: $0, account: account.id) }
        }
        reading.changeToken = reading.changeToken?.and(ownValidity)
        guard let present = try store.account(account.id) else { throw Self.sessionExpired }
        return (present, reading)
    }
}
