import Foundation
import HTTPTypes
import Screens
import Upstream

extension DiskService {
    /// `GET /v1/disk/profile`.
    @Sendable func profile(_ request: ScreenRequest) async throws -> Reply {
        let (account, reading) = try await sizes(request)
        let provenance = reading.provenance
        let meta = Meta(screen: "disk.profile", provenance: provenance, banner: provenance.offline ? .diskOffline : nil)
        return try .screen(
            Envelope(data: ProfileScreen(account), meta: meta, links: Links(self: request.selfLink)),
            provenance: provenance,
            now: clock.now(),
            validity: reading.validity
        )
    }

    /// `GET /v1/disk/profile/chart.svg`.
    @Sendable func chart(_ request: ScreenRequest) async throws -> Reply {
        let (account, reading) = try await sizes(request)
        var fields: HTTPFields = [.cacheControl: "private, no-cache", .vary: "Authorization"]
        fields.add(reading.provenance, now: clock.now())
        return Reply(
            headerFields: fields,
            body: .bytes(Data(ProfileChart.svg(account).utf8), type: "image/svg+xml; charset=utf-8"),
            validity: reading.validity
        )
    }

    private func sizes(_ request: ScreenRequest) async throws -> (DiskAccount, Reading) {
        let account = try await account(of: request)
        let ownValidity = store.validity(account: account.id)
        var reading = try await read(account, try request.demand()) { token, _ in
            api.info(token, account: account.id) { store.admission(of: $0, account: account.id) }
        }
        reading.validity = reading.validity?.and(ownValidity)
        guard let present = try store.account(account.id) else { throw Self.sessionExpired }
        return (present, reading)
    }
}
