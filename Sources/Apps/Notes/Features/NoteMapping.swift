import Concurrency
import Foundation
import HTTP
import HTTPTypes
import Screens

/// The notes of an account on a map.
struct NoteMapping: Sendable {
    let app: Notes

    /// `GET /v1/notes/map`: pins and clusters, as a screen or as GeoJSON.
    @Sendable func map(_ request: ScreenRequest, _ session: Session) async throws -> ScreenResponse {
        let account = try session.noteAccount()
        let zone = try request.query.timeZone() ?? .gmt
        let user = try Self.userPosition(request.query)
        let view = try request.query.mapView()
        let zoom = try request.query.integer("zoom", in: 0...24)
        let changeToken = app.store.changeToken(account: account)
        let banner = try await app.store.catchUp()
        let onlyPlaced = try request.query.flag("placed")
        let map = try app.store.map(view, zoom: zoom, onlyPlaced: onlyPlaced, account: account)
        let time = NoteTime(in: zone, now: app.clock.now())
        // The user's place is shown only if no note has one.
        var address: NoteAddresses.Address?
        if map.latest == nil, let user { address = try await app.addresses.address(of: user) }
        let place = user.map { Note.Location(coordinate: $0, name: address?.text ?? "") }
        let screen = NoteMapScreen(map, user: place, time, app.addresses.gazetteer, quota: app.quota)
        var response =
            NoteFeatureCollection.isPreferred(by: AcceptedMediaTypes(request.headerFields))
            ? try geoJSON(screen)
            : try .local(
                screen,
                "notes.map",
                request,
                state: map.total == 0 ? .empty : .content,
                revision: map.revision,
                stale: banner
            )
        // `Accept` selects one of the two.
        response.headerFields[.vary] = "Authorization, Cookie, Accept, Accept-Language, Accept-Encoding"
        let ends = changeToken.and(ChangeToken(until: time.deadline))
        if banner == nil { response.changeToken = if let address { address.changeToken?.and(ends) } else { ends } }
        return response
    }

    private func geoJSON(_ screen: NoteMapScreen) throws -> ScreenResponse {
        ScreenResponse(
            headerFields: [.cacheControl: "private, no-cache", .contentLanguage: Language.current.rawValue],
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

/// `GET /v1/notes/map`.
struct NoteMapScreen: Encodable, Sendable {
    struct Pin: Encodable, Sendable {
        let id: String
        /// The same as ``id``, for front ends of earlier versions.
        let noteId: String
        let lat: Double
        let lon: Double
        let title: String
        let firstLine: String
        let subtitle: Text
        let href: Link

        init(_ note: NoteOutline, _ time: NoteTime) {
            id = Note.identity(note.id)
            noteId = id
            lat = note.location.coordinate.latitude
            lon = note.location.coordinate.longitude
            title = note.title
            firstLine = note.firstLine
            subtitle = time.text(note.modified) + Text(verbatim: " • ") + note.location.nameText
            href = "/v1/notes/\(noteId)"
        }
    }

    /// Several notes that are too near to each other to be shown one by one.
    struct Cluster: Encodable, Sendable {
        /// Its cell.
        let id: String
        let count: Int
        let lat: Double
        let lon: Double
        /// The city nearest to its notes; null if they may be far from each other, or are far from every city.
        @Nullable var city: Text?
        /// West, south, east, north of the cell: the part of the map to request next. Its edges may have notes of
        /// neighbour cells, which ``href`` leaves out.
        let bbox: [Double]
        let href: Link

        init(_ cluster: NoteCluster, _ gazetteer: Gazetteer, zoom: Int, onlyPlaced: Bool) {
            count = cluster.count
            lat = cluster.center.latitude
            lon = cluster.center.longitude
            city = cluster.isOnePlace ? gazetteer.nearest(to: cluster.center)?.title : nil
            let box = MapGrid.box(of: cluster.cell, zoom: zoom)
            bbox = [box.west, box.south, box.east, box.north].map { ($0 * 1e7).rounded() / 1e7 }
            id = MapView.Selection(cell: cluster.cell, zoom: zoom).text
            let notes = Link("/v1/notes/map").query("cell", id)
                .query("zoom", String(min(zoom + 3, MapGrid.deepest + 1)))
            href = onlyPlaced ? notes.query("placed", "1") : notes
        }
    }

    struct Center: Encodable, Sendable, Equatable {
        let lat: Double
        let lon: Double
        /// The name of the place; the address of the user's.
        let name: Text
        /// `latest_note`, `user` or `zero`.
        let reason: String

        /// The place of the last saved note that has one, else the user's, else 0°, 0°.
        init(latest: Note.Location?, user: Note.Location?) {
            let place = latest ?? user ?? .unknown
            lat = place.coordinate.latitude
            lon = place.coordinate.longitude
            name = place.nameText
            reason = latest != nil ? "latest_note" : user != nil ? "user" : "zero"
        }
    }

    let pins: [Pin]
    let clusters: [Cluster]
    let center: Center
    /// Width and height of the region around the centre that the app shows, in metres.
    let spanM = 10_000
    /// The zoom of the clusters; null if every note of the view is a pin.
    @Nullable var zoom: Int?
    /// All notes of the account.
    let total: Int
    /// Those without a place; null if they are not left out.
    @Nullable var unplaced: Int?
    let actions: [Action]
    let empty: EmptyState?

    init(_ map: NoteMap, user: Note.Location?, _ time: NoteTime, _ gazetteer: Gazetteer, quota: StorageQuota) {
        let zoom = map.zoom
        pins = map.pins.map { Pin($0, time) }
        clusters = map.clusters.map { Cluster($0, gazetteer, zoom: zoom ?? 0, onlyPlaced: map.unplaced != nil) }
        center = Center(latest: map.latest?.location, user: user)
        self.zoom = zoom
        total = map.total
        self.unplaced = map.unplaced
        let create = Action.createNote(disabled: quota.refusalOfNote(beside: map.usage))
        actions = [create]
        empty = map.total == 0 ? .noNotes(create) : nil
    }
}

/// The map as GeoJSON (RFC 7946): a feature for each pin and each cluster. It has no envelope: the
/// header fields tell the rest.
struct NoteFeatureCollection: Encodable, Sendable {
    /// Its media type, RFC 7946 §12.
    static let mediaType = "application/geo+json; charset=utf-8"

    struct Point: Encodable, Sendable {
        let type = "Point"
        /// Longitude first, §3.1.1.
        let coordinates: [Double]
    }

    struct Feature: Encodable, Sendable {
        struct Properties: Encodable, Sendable {
            var title: String?
            var subtitle: Text?
            /// True for several notes; with `pointCount`, as is usual for clients of vector maps.
            let cluster: Bool
            var pointCount: Int?
            let href: Link
        }

        let type = "Feature"
        let id: String?
        let bbox: [Double]?
        let geometry: Point
        let properties: Properties

        init(_ pin: NoteMapScreen.Pin) {
            id = pin.noteId
            bbox = nil
            geometry = Point(coordinates: [pin.lon, pin.lat])
            properties = Properties(title: pin.title, subtitle: pin.subtitle, cluster: false, href: pin.href)
        }

        init(_ cluster: NoteMapScreen.Cluster) {
            id = nil
            bbox = cluster.bbox
            geometry = Point(coordinates: [cluster.lon, cluster.lat])
            properties = Properties(cluster: true, pointCount: cluster.count, href: cluster.href)
        }
    }

    let type = "FeatureCollection"
    let features: [Feature]

    init(_ screen: NoteMapScreen) {
        features = screen.pins.map(Feature.init) + screen.clusters.map(Feature.init)
    }

    /// Returns whether a client prefers GeoJSON to a screen (RFC 9110 §12.5.1): it names it, with a weight that is not
    /// below that of JSON.
    static func isPreferred(by accepted: AcceptedMediaTypes) -> Bool {
        guard let weight = accepted.explicitWeight(of: "application/geo+json"), weight > 0 else { return false }
        return weight >= accepted.weight(of: "application/json")
    }
}
