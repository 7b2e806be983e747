import Foundation
import HTTPTypes
import JSONValues

/// Publishing, and the view of other users.
extension DiskModel {
    /// Settings of the link in the body are ignored, as the service does.
    mutating func publish(_ request: DiskRequest, _ account: Int) throws(DiskFailure) -> UpstreamResponse {
        let path = try request.path("path")
        guard !path.names.isEmpty else { throw .root }
        guard let node = trees[account].node(at: path) else { throw .notFound }
        _ = try request.object()
        if node.publication == nil {
            let links = self.links
            let revision = trees[account].revision + 1
            trees[account].update(node.id, at: request.now) {
                $0.publication = links.publication(of: $0, revision: revision)
            }
        }
        return request.link(.ok, to: path)
    }

    mutating func unpublish(_ request: DiskRequest, _ account: Int) throws(DiskFailure) -> UpstreamResponse {
        let path = try request.path("path")
        guard let node = trees[account].node(at: path) else { throw .notFound }
        if node.publication != nil { trees[account].update(node.id, at: request.now) { $0.publication = nil } }
        return request.link(.ok, to: path)
    }

    func publicSettings(_ request: DiskRequest, _ account: Int) throws(DiskFailure) -> UpstreamResponse {
        guard let publication = trees[account].node(at: try request.path("path"))?.publication else { throw .notFound }
        return request.json(
            .ok,
            .object(JSONObject(members: publication.settings.members.filter { $0.name != "password" }))
        )
    }

    /// Returns 200 without a body, as recorded.
    mutating func changePublicSettings(_ request: DiskRequest, _ account: Int) throws(DiskFailure) -> UpstreamResponse {
        guard let node = trees[account].node(at: try request.path("path")), node.publication != nil else {
            throw .notFound
        }
        change(try request.object(), of: node.id, account, request)
        return UpstreamResponse(status: .ok, headers: [.contentType: "application/json; charset=utf-8"])
    }

    private mutating func change(_ settings: JSONObject, of id: Int, _ account: Int, _ request: DiskRequest) {
        trees[account].update(id, at: request.now) { node in
            for member in settings.members {
                node.publication?.settings[member.name] =
                    [.null, ""].contains(member.value) ? Optional.none : member.value
            }
        }
    }

    // MARK: public resources

    mutating func publicResource(_ request: DiskRequest) throws(DiskFailure) -> UpstreamResponse {
        let found = try shared(request)
        // A request for the published node itself counts as a view.
        if found.node.id == found.whole.id { trees[found.account].countView(of: found.whole.id) }
        let rendering = try request.rendering(links, shared: trees[found.account].nodes[found.whole.id] ?? found.whole)
        return show(
            found.node,
            found.account,
            request,
            rendering,
            paging: try request.paging(),
            order: try request.order()
        )
    }

    func publicDownload(_ request: DiskRequest) throws(DiskFailure) -> UpstreamResponse {
        let found = try shared(request)
        if found.whole.publication?.settings["password"] != nil { throw .passwordRequired }
        guard !found.node.isDirectory else { throw .notAcceptable }
        return request.link(.ok, href: links.contentURL(found.node, origin: request.origin, uid: "0", now: request.now))
    }

    mutating func saveToDisk(_ request: DiskRequest, _ account: Int) throws(DiskFailure) -> UpstreamResponse {
        let found = try shared(request)
        let parent = try DiskPath(request.parameters["save_path"] ?? DiskSeed.downloads)
        let own = found.node.name
        let target = parent.appending(request.parameters["name"].flatMap { $0.isEmpty ? nil : $0 } ?? own)
        return try finish(.save(found.node.id, of: found.account, to: target), .save, request, account) {
            request.link(.created, to: target)
        }
    }

    /// Returns the node that `public_key` (the key or the address) and `path` name.
    private func shared(_ request: DiskRequest) throws(DiskFailure) -> (account: Int, whole: DiskNode, node: DiskNode) {
        let key = try request.text("public_key")
        for (account, tree) in trees.enumerated() {
            let whole = tree.nodes.values.first { node in
                node.publication.map { $0.key == key || $0.url == key || key.hasPrefix($0.url + "/") } ?? false
            }
            guard let whole, let publication = whole.publication else { continue }
            if let until = publication.settings["available_until"]?.double, until < request.now.timeIntervalSince1970 {
                throw .notFound
            }
            var path = tree.path(of: whole)
            if key.hasPrefix(publication.url + "/") {
                path.names += RequestTarget(String(key.dropFirst(publication.url.count))).segments
            }
            if let below = request.parameters["path"] { path.names += try DiskPath(below).names }
            guard let node = tree.node(at: path) else { throw .notFound }
            return (account, whole, node)
        }
        throw .notFound
    }
}
