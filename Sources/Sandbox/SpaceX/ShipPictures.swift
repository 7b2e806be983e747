/// The host of the ships' pictures.
struct ShipPictures: Sendable {
    private let host: PictureHost

    init(seed: UInt64) {
        host = PictureHost(
            path: "/spacex/images",
            page: ("showphoto.aspx", Self.page),
            redirectsInside: false,
            picture: { ShipPicture.png(name: $0, seed: seed) }
        )
    }

    func respond(to request: UpstreamRequest) -> UpstreamResponse { host.respond(to: request) }

    private static let page =
        "<!DOCTYPE html>\n<html><head><title>Ship photo</title></head><body>"
        + "<p>Please sign in to see this photo.</p></body></html>\n"
}
