import Foundation
import Freshness
import HTTPSemantics
import HTTPTypes
import Screens

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
        var response =
            NoteFeatureCollection.isPreferred(by: AcceptedMediaTypes(request.headerFields))
            ? try geoJSON(screen)
            : try .local(
                screen,
                "notes.map",
                request,
                state: map.total == 0 ? .empty : .content,
                revision: map.revision
            )
        // `Accept` selects one of the two.
        response.headerFields[.vary] = "Authorization, Accept, Accept-Encoding"
        response.changeToken = changeToken.and(ChangeToken(until: time.deadline))
        return response
    }

    private func geoJSON(_ screen: NoteMapScreen) throws -> ScreenResponse {
        ScreenResponse(
            headerFields: [.cacheControl: "private, no-cache"],
            body: .bytes(try WireFormat.encode(NoteFeatureCollection(screen)), type: NoteFeatureCollection.mediaType)
        )
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
