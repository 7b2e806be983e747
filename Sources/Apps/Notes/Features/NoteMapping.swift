import Foundation
import Freshness
import HTTPSemantics
import HTTPTypes
import Screens

/// The notes of an account on a map.
struct NoteMapping: Sendable {
    let book: any NoteBook
    let addresses: NoteAddresses
    let clock: WallClock

    /// `GET /v1/notes/map`: pins and clusters, as a screen or as GeoJSON.
    @Sendable func map(_ request: ScreenRequest, _ session: Session) async throws -> ScreenResponse {
        let account = try session.noteAccount()
        let zone = try request.query.timeZone() ?? .gmt
        let user = try Self.userPosition(request.query)
        let view = try request.query.mapView()
        let zoom = try request.query.integer("zoom", in: 0...24)
        let changeToken = book.changeToken(account: account)
        let map = try await book.map(view, zoom: zoom, account: account)
        let time = NoteTime(in: zone, now: clock.now())
        // The user's place is shown only if there is no note.
        let address = try await address(of: map.latest == nil ? user : nil)
        let place = user.map { Note.Location(coordinate: $0, name: address?.text ?? "") }
        let screen = NoteMapScreen(map, user: place, time)
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
        response.headerFields[.vary] = "Authorization, Cookie, Accept, Accept-Language, Accept-Encoding"
        let ends = changeToken.and(ChangeToken(until: time.deadline))
        response.changeToken = if let address { address.changeToken?.and(ends) } else { ends }
        return response
    }

    private func geoJSON(_ screen: NoteMapScreen) throws -> ScreenResponse {
        ScreenResponse(
            headerFields: [.cacheControl: "private, no-cache", .contentLanguage: Language.current.rawValue],
            body: .bytes(try WireFormat.encode(NoteFeatureCollection(screen)), type: NoteFeatureCollection.mediaType)
        )
    }

    private func address(of point: Coordinate?) async throws -> NoteAddresses.Address? {
        guard let point else { return nil }
        return try await addresses.address(of: point)
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
