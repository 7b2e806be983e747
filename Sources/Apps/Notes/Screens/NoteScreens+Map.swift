import Foundation
import HTTPSemantics
import Screens

/// `GET /v1/notes/map`.
struct NoteMapScreen: Encodable, Sendable {
    struct Pin: Encodable, Sendable {
        let noteId: String
        let lat: Double
        let lon: Double
        let title: String
        let subtitle: String
        let href: String

        init(_ note: NoteOutline, _ time: NoteTime) {
            noteId = Note.identity(note.id)
            lat = note.location.coordinate.latitude
            lon = note.location.coordinate.longitude
            title = note.title
            subtitle = "\(time.text(note.modified)) • \(note.location.name)"
            href = "/v1/notes/\(noteId)"
        }
    }

    /// Several notes that are too near to each other to be shown one by one.
    struct Cluster: Encodable, Sendable {
        let count: Int
        let lat: Double
        let lon: Double
        /// West, south, east, north of the cell: the part of the map to look at next. Its edges may have notes of
        /// neighbour cells, which ``href`` leaves out.
        let bbox: [Double]
        let href: String

        init(_ cluster: NoteCluster, zoom: Int) {
            count = cluster.count
            lat = cluster.center.latitude
            lon = cluster.center.longitude
            let box = MapGrid.box(of: cluster.cell, zoom: zoom)
            bbox = [box.west, box.south, box.east, box.north].map { ($0 * 1e7).rounded() / 1e7 }
            let selection = MapView.Selection(cell: cluster.cell, zoom: zoom).text
            href = "/v1/notes/map?cell=\(selection)&zoom=\(min(zoom + 3, MapGrid.deepest + 1))"
        }
    }

    struct Center: Encodable, Sendable, Equatable {
        let lat: Double
        let lon: Double
        /// The name of the place; the address of the user's.
        let name: String
        /// `latest_note`, `user` or `zero`.
        let reason: String

        /// The place of the note that was saved last, else the user's, else 0°, 0°.
        init(latest: Note.Location?, user: Note.Location?) {
            let place = latest ?? user ?? .unknown
            lat = place.coordinate.latitude
            lon = place.coordinate.longitude
            name = place.name
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
    let actions: [Action] = [.createNote]
    let empty: EmptyState?

    init(_ map: NoteMap, user: Note.Location?, _ time: NoteTime) {
        let zoom = map.zoom
        pins = map.pins.map { Pin($0, time) }
        clusters = map.clusters.map { Cluster($0, zoom: zoom ?? 0) }
        center = Center(latest: map.latest?.location, user: user)
        _zoom = Nullable(wrappedValue: zoom)
        total = map.total
        empty = map.total == 0 ? .noNotes : nil
    }

    private enum CodingKeys: CodingKey { case pins, clusters, center, spanM, zoom, total, actions, empty }
}

/// The map as GeoJSON (RFC 7946): a feature for each pin and each cluster. It has no envelope: the
/// header fields tell the rest.
struct NoteFeatureCollection: Encodable, Sendable {
    /// Its media type, RFC 7946 §12.
    static let mediaType = "application/geo+json; charset=utf-8"

    struct Feature: Encodable, Sendable {
        struct Point: Encodable, Sendable {
            let type = "Point"
            /// Longitude first, §3.1.1.
            let coordinates: [Double]

            private enum CodingKeys: CodingKey { case type, coordinates }
        }

        struct Properties: Encodable, Sendable {
            var title: String?
            var subtitle: String?
            /// True for several notes; with `pointCount`, as is usual for clients of vector maps.
            let cluster: Bool
            var pointCount: Int?
            let href: String
        }

        let type = "Feature"
        let id: String?
        let bbox: [Double]?
        let geometry: Point
        let properties: Properties

        private enum CodingKeys: CodingKey { case type, id, bbox, geometry, properties }

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

    private enum CodingKeys: CodingKey { case type, features }

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
