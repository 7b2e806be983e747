import HTTPTypes

/// The host of the products' pictures.
struct ProductPictures: Sendable {
    private let host: PictureHost

    init(seed: UInt64) {
        host = PictureHost(
            path: "/catalogue/images",
            page: ("sign-in.jpg", "<!DOCTYPE html>\n<title>Sign in</title>\n"),
            redirectsInside: true,
            picture: { ProductPicture.png(name: $0, seed: seed) }
        )
    }

    func respond(to request: UpstreamRequest) -> UpstreamResponse {
        guard request.method == .get || request.method == .head else {
            return .text(.methodNotAllowed, "Method Not Allowed")
        }
        return host.respond(to: request)
    }
}
