import Foundation
import HTTPTypes

/// Changes of the simulated service for tests and demonstrations.
extension YandexDisk {
    var controls: [ControlIndex.Line] {
        let root = "/_sandbox/yandex_disk"
        return [
            .init(
                method: "PUT",
                path: "\(root)/files",
                purpose: "writes a file as another client would, with the folders above it; text or base64",
                example: #"{"path":"disk:/a/b.txt","text":"…","account":"anna"}"#
            ),
            .init(
                method: "PUT",
                path: "\(root)/folders",
                purpose: "makes a folder and those above it",
                example: #"{"path":"disk:/a"}"#
            ),
            .init(
                method: "POST",
                path: "\(root)/remove",
                purpose: "removes a file or a folder for good",
                example: #"{"path":"disk:/a"}"#
            ),
            .init(
                method: "POST",
                path: "\(root)/move",
                purpose: "moves or renames",
                example: #"{"from":"disk:/Старое","to":"disk:/Новое"}"#
            ),
            .init(
                method: "POST",
                path: "\(root)/fill",
                purpose: "adds small files to a folder: 1…100000",
                example: #"{"path":"disk:/Много","count":5}"#
            ),
            .init(
                method: "PUT",
                path: "\(root)/quota",
                purpose: "total space of an account and its largest upload, in bytes",
                example: #"{"total_space":10737418240,"max_file_size":53687091200}"#
            ),
            .init(
                method: "PUT",
                path: "\(root)/operations",
                purpose:
                    "calls whose response is 202 (copy, move, delete, restore, empty, save, upload), polls (or seconds) "
                    + "until they end, how they end; folders: whether full ones always do",
                example: #"{"calls":["move"],"folders":true,"polls":1,"status":"success"}"#
            ),
            .init(
                method: "PUT",
                path: "\(root)/links",
                purpose:
                    "lifetimes in seconds, host name, status of a stale link, whether it redirects, "
                    + "whether previews need a token",
                example:
                    #"{"lifetime_s":14400,"upload_lifetime_s":1800,"host":"localhost","stale_status":410,"#
                    + #""redirects":false,"previews_need_token":false}"#
            ),
            .init(method: "POST", path: "\(root)/links/expire", purpose: "ends every link to content and for uploads"),
            .init(
                method: "POST",
                path: "\(root)/failures",
                purpose: "the next calls of that method and path get this error of the service",
                example: #"{"call":"PUT /resources/publish","error":"DiskResourceLockedError","times":1}"#
            ),
            .init(
                method: "POST",
                path: "\(root)/clock",
                purpose: "lets time pass for the service: links and tokens age",
                example: #"{"advance_s":14401}"#
            ),
        ]
    }

    func control(_ request: ControlRequest) throws(ControlProblem) -> UpstreamResponse {
        let call = request.path.joined(separator: "/")
        switch call {
        case "files", "folders", "quota", "operations", "links": try request.require(.put)
        case "remove", "move", "fill", "links/expire", "failures", "clock": try request.require(.post)
        default: throw .nothing(at: ["yandex_disk", call])
        }
        let fields = try ControlFields(call == "links/expire" ? [:] : try request.json())
        let made = try withModel { (model, now) throws(ControlProblem) in
            var change = DiskControl(model: model, fields: fields, now: now)
            // The model has one owner at a time, so that a large one is not copied.
            model = DiskModel(trees: [], links: model.links)
            defer { model = change.model }
            return try change.make(call)
        }
        guard call == "clock" else { return .json(.ok, made) }
        let seconds = try fields.integer("advance_s", in: 0...1_000_000_000) ?? 0
        let time = accounts.withState { state, now in
            state.ahead += seconds
            return now.addingTimeInterval(TimeInterval(seconds))
        }
        return .json(.ok, ["now": .string(DiskTime.text(time))])
    }
}
