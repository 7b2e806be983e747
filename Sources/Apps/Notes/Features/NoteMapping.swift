import Foundation
import Freshness
import HTTPSemantics
import HTTPTypes
import Screens
import Upstream

/// The notes of an account on a map.
struct NoteMapping: Sendable {
    let store: NoteStore
    let clock: WallClock

    /// `GET /v1/notes/map`: pins and clusters, as a screen or as GeoJSON.
    @Sendable func map(_ request: ScreenRequest, _ session: Session) async throws -> ScreenResponse {
        let account = try session.noteAccount()
        let zone = try request.query.timeZone() ?? .gmt
        let user = try Self.userPosition(request.query)
        let box = try request.query.boundingBox()
        let zoom = try request.query.integer("zoom", in: 0...24)
        let changeToken = store.changeToken(account: account)
        let map = try store.map(box ?? .world, zoom: zoom, account: account)
        let time = NoteTime(in: zone, now: clock.now())
        let screen = NoteMapScreen(map, user: user, time)
        let ends = changeToken.and(ChangeToken(until: time.deadline))
        // `Accept` selects one of the two.
        let vary = "Authorization, Accept, Accept-Encoding"
        guard !NoteFeatureCollection.isPreferred(by: AcceptedMediaTypes(request.headerFields)) else {
            let bytes = try WireFormat.encode(NoteFeatureCollection(screen))
            return ScreenResponse(
                headerFields: [.cacheControl: "private, no-cache", .vary: vary],
                body: .bytes(bytes, type: NoteFeatureCollection.mediaType),
                changeToken: ends
            )
        }
        let meta = Meta(
            screen: "notes.map",
            state: map.total == 0 ? .empty : .content,
            provenance: .local,
            revision: map.revision
        )
        var response = try ScreenResponse.local(
            screen,
            meta,
            Links(self: request.selfLink),
            changeToken: ends,
            now: clock.now()
        )
        response.headerFields[.vary] = vary
        return response
    }

    /// Where the user is: both of `lat` and `lon`, or neither.
    private static func userPosition(_ query: QueryItems) throws -> Coordinate? {
        let (latitude, longitude) = (try query.number("lat", in: -90...90), try query.number("lon", in: -180...180))
        switch (latitude, longitude) {
        case (nil, nil): return nil
        case (let latitude?, let longitude?): return Coordinate(latitude: latitude, longitude: longitude)
        case (nil, _): throw Problem.invalidParameter("lat", accepted: "is needed together with lon")
        case (_, nil): throw Problem.invalidParameter("lon", accepted: "is needed together with lat")
        }
    }
}
