import Foundation
import Screens

/// `GET /v1/notes/map`.
struct NoteMapScreen: Encodable, Sendable {
    struct Pin: Encodable, Sendable {
        let noteId: String
        let lat: Double
        let lon: Double
        let title: String
        let subtitle: Text
        let href: Link

        init(_ note: NoteOutline, _ time: NoteTime) {
            noteId = Note.identity(note.id)
            lat = note.location.coordinate.latitude
            lon = note.location.coordinate.longitude
            title = note.title
            subtitle = time.text(note.modified) + Text(verbatim: " • ") + note.location.nameText
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
        let href: Link

        init(_ cluster: NoteCluster, zoom: Int) {
            count = cluster.count
            lat = cluster.center.latitude
            lon = cluster.center.longitude
            let box = MapGrid.box(of: cluster.cell, zoom: zoom)
            bbox = [box.west, box.south, box.east, box.north].map { ($0 * 1e7).rounded() / 1e7 }
            let selection = MapView.Selection(cell: cluster.cell, zoom: zoom).text
            href = Link("/v1/notes/map").query("cell", selection)
                .query("zoom", String(min(zoom + 3, MapGrid.deepest + 1)))
        }
    }

    struct Center: Encodable, Sendable, Equatable {
        let lat: Double
        let lon: Double
        /// The name of the place; the address of the user's.
        let name: Text
        /// `latest_note`, `user` or `zero`.
        let reason: String

        /// The place of the note that was saved last, else the user's, else 0°, 0°.
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

extension NoteMapScreen: JSONWritable {
    func write(to json: inout JSONWriter) throws {
        json.beginObject()
        try json.member("actions", actions)
        try json.member("center", center)
        try json.member("clusters", clusters)
        if let empty { try json.member("empty", empty) }
        try json.member("pins", pins)
        json.member("span_m", spanM)
        json.member("total", total)
        json.member("zoom", zoom)
        json.endObject()
    }
}

extension NoteMapScreen.Pin: JSONWritable {
    func write(to json: inout JSONWriter) throws {
        json.beginObject()
        json.member("href", href)
        try json.member("lat", lat)
        try json.member("lon", lon)
        json.member("note_id", noteId)
        json.member("subtitle", subtitle)
        json.member("title", title)
        json.endObject()
    }
}

extension NoteMapScreen.Cluster: JSONWritable {
    func write(to json: inout JSONWriter) throws {
        json.beginObject()
        json.name("bbox")
        json.beginArray()
        for edge in bbox { try json.value(edge) }
        json.endArray()
        json.member("count", count)
        json.member("href", href)
        try json.member("lat", lat)
        try json.member("lon", lon)
        json.endObject()
    }
}

extension NoteMapScreen.Center: JSONWritable {
    func write(to json: inout JSONWriter) throws {
        json.beginObject()
        try json.member("lat", lat)
        try json.member("lon", lon)
        json.member("name", name)
        json.member("reason", reason)
        json.endObject()
    }
}
