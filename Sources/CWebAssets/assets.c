// Written by script/embed-site.
#include "CWebAssets.h"

// C23, which clang has as an extension; SwiftPM's own way to embed a file takes minutes for this much.
#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char file_api_js[] = {
#embed "site/api.js"
};
static const unsigned char file_app_css[] = {
#embed "site/app.css"
};
static const unsigned char file_disk_acts_js[] = {
#embed "site/disk-acts.js"
};
static const unsigned char file_disk_file_js[] = {
#embed "site/disk-file.js"
};
static const unsigned char file_disk_list_js[] = {
#embed "site/disk-list.js"
};
static const unsigned char file_disk_outbox_js[] = {
#embed "site/disk-outbox.js"
};
static const unsigned char file_disk_parts_js[] = {
#embed "site/disk-parts.js"
};
static const unsigned char file_disk_tray_js[] = {
#embed "site/disk-tray.js"
};
static const unsigned char file_disk_view_js[] = {
#embed "site/disk-view.js"
};
static const unsigned char file_disk_viewer_js[] = {
#embed "site/disk-viewer.js"
};
static const unsigned char file_disk_js[] = {
#embed "site/disk.js"
};
static const unsigned char file_docs_js[] = {
#embed "site/docs.js"
};
static const unsigned char file_dom_js[] = {
#embed "site/dom.js"
};
static const unsigned char file_events_js[] = {
#embed "site/events.js"
};
static const unsigned char file_files_css[] = {
#embed "site/files.css"
};
static const unsigned char file_fingers_js[] = {
#embed "site/fingers.js"
};
static const unsigned char file_form_js[] = {
#embed "site/form.js"
};
static const unsigned char file_help_js[] = {
#embed "site/help.js"
};
static const unsigned char file_home_js[] = {
#embed "site/home.js"
};
static const unsigned char file_icon_192_png[] = {
#embed "site/icon-192.png"
};
static const unsigned char file_icon_512_png[] = {
#embed "site/icon-512.png"
};
static const unsigned char file_icon_maskable_png[] = {
#embed "site/icon-maskable.png"
};
static const unsigned char file_icon_svg[] = {
#embed "site/icon.svg"
};
static const unsigned char file_icons_js[] = {
#embed "site/icons.js"
};
static const unsigned char file_index_html[] = {
#embed "site/index.html"
};
static const unsigned char file_keys_js[] = {
#embed "site/keys.js"
};
static const unsigned char file_lightbox_js[] = {
#embed "site/lightbox.js"
};
static const unsigned char file_list_js[] = {
#embed "site/list.js"
};
static const unsigned char file_main_js[] = {
#embed "site/main.js"
};
static const unsigned char file_manifest_webmanifest[] = {
#embed "site/manifest.webmanifest"
};
static const unsigned char file_map_draw_js[] = {
#embed "site/map-draw.js"
};
static const unsigned char file_map_gestures_js[] = {
#embed "site/map-gestures.js"
};
static const unsigned char file_map_js[] = {
#embed "site/map.js"
};
static const unsigned char file_notes_edit_js[] = {
#embed "site/notes-edit.js"
};
static const unsigned char file_notes_map_js[] = {
#embed "site/notes-map.js"
};
static const unsigned char file_notes_parts_js[] = {
#embed "site/notes-parts.js"
};
static const unsigned char file_notes_people_js[] = {
#embed "site/notes-people.js"
};
static const unsigned char file_notes_place_js[] = {
#embed "site/notes-place.js"
};
static const unsigned char file_notes_text_js[] = {
#embed "site/notes-text.js"
};
static const unsigned char file_notes_js[] = {
#embed "site/notes.js"
};
static const unsigned char file_overlay_js[] = {
#embed "site/overlay.js"
};
static const unsigned char file_own_js[] = {
#embed "site/own.js"
};
static const unsigned char file_pages_css[] = {
#embed "site/pages.css"
};
static const unsigned char file_pair_css[] = {
#embed "site/pair.css"
};
static const unsigned char file_pair_html[] = {
#embed "site/pair.html"
};
static const unsigned char file_pair_js[] = {
#embed "site/pair.js"
};
static const unsigned char file_palette_js[] = {
#embed "site/palette.js"
};
static const unsigned char file_parts_js[] = {
#embed "site/parts.js"
};
static const unsigned char file_pdf_new_js[] = {
#embed "site/pdf-new.js"
};
static const unsigned char file_pdf_pages_js[] = {
#embed "site/pdf-pages.js"
};
static const unsigned char file_pdf_reader_js[] = {
#embed "site/pdf-reader.js"
};
static const unsigned char file_pdf_speech_js[] = {
#embed "site/pdf-speech.js"
};
static const unsigned char file_pdf_js[] = {
#embed "site/pdf.js"
};
static const unsigned char file_robots_txt[] = {
#embed "site/robots.txt"
};
static const unsigned char file_screen_js[] = {
#embed "site/screen.js"
};
static const unsigned char file_share_js[] = {
#embed "site/share.js"
};
static const unsigned char file_ships_js[] = {
#embed "site/ships.js"
};
static const unsigned char file_shop_cart_js[] = {
#embed "site/shop-cart.js"
};
static const unsigned char file_shop_list_js[] = {
#embed "site/shop-list.js"
};
static const unsigned char file_shop_js[] = {
#embed "site/shop.js"
};
static const unsigned char file_sort_js[] = {
#embed "site/sort.js"
};
static const unsigned char file_status_devices_js[] = {
#embed "site/status-devices.js"
};
static const unsigned char file_status_harness_js[] = {
#embed "site/status-harness.js"
};
static const unsigned char file_status_recordings_js[] = {
#embed "site/status-recordings.js"
};
static const unsigned char file_status_requests_js[] = {
#embed "site/status-requests.js"
};
static const unsigned char file_status_rules_js[] = {
#embed "site/status-rules.js"
};
static const unsigned char file_status_sandbox_js[] = {
#embed "site/status-sandbox.js"
};
static const unsigned char file_status_js[] = {
#embed "site/status.js"
};
static const unsigned char file_texts_js[] = {
#embed "site/texts.js"
};
static const unsigned char file_trash_js[] = {
#embed "site/trash.js"
};
static const unsigned char file_ui_js[] = {
#embed "site/ui.js"
};
static const unsigned char file_worker_js[] = {
#embed "site/worker.js"
};
static const unsigned char file_world_json[] = {
#embed "site/world.json"
};

static const struct larder_web_asset assets[] = {
    {"api.js", file_api_js, sizeof file_api_js},
    {"app.css", file_app_css, sizeof file_app_css},
    {"disk-acts.js", file_disk_acts_js, sizeof file_disk_acts_js},
    {"disk-file.js", file_disk_file_js, sizeof file_disk_file_js},
    {"disk-list.js", file_disk_list_js, sizeof file_disk_list_js},
    {"disk-outbox.js", file_disk_outbox_js, sizeof file_disk_outbox_js},
    {"disk-parts.js", file_disk_parts_js, sizeof file_disk_parts_js},
    {"disk-tray.js", file_disk_tray_js, sizeof file_disk_tray_js},
    {"disk-view.js", file_disk_view_js, sizeof file_disk_view_js},
    {"disk-viewer.js", file_disk_viewer_js, sizeof file_disk_viewer_js},
    {"disk.js", file_disk_js, sizeof file_disk_js},
    {"docs.js", file_docs_js, sizeof file_docs_js},
    {"dom.js", file_dom_js, sizeof file_dom_js},
    {"events.js", file_events_js, sizeof file_events_js},
    {"files.css", file_files_css, sizeof file_files_css},
    {"fingers.js", file_fingers_js, sizeof file_fingers_js},
    {"form.js", file_form_js, sizeof file_form_js},
    {"help.js", file_help_js, sizeof file_help_js},
    {"home.js", file_home_js, sizeof file_home_js},
    {"icon-192.png", file_icon_192_png, sizeof file_icon_192_png},
    {"icon-512.png", file_icon_512_png, sizeof file_icon_512_png},
    {"icon-maskable.png", file_icon_maskable_png, sizeof file_icon_maskable_png},
    {"icon.svg", file_icon_svg, sizeof file_icon_svg},
    {"icons.js", file_icons_js, sizeof file_icons_js},
    {"index.html", file_index_html, sizeof file_index_html},
    {"keys.js", file_keys_js, sizeof file_keys_js},
    {"lightbox.js", file_lightbox_js, sizeof file_lightbox_js},
    {"list.js", file_list_js, sizeof file_list_js},
    {"main.js", file_main_js, sizeof file_main_js},
    {"manifest.webmanifest", file_manifest_webmanifest, sizeof file_manifest_webmanifest},
    {"map-draw.js", file_map_draw_js, sizeof file_map_draw_js},
    {"map-gestures.js", file_map_gestures_js, sizeof file_map_gestures_js},
    {"map.js", file_map_js, sizeof file_map_js},
    {"notes-edit.js", file_notes_edit_js, sizeof file_notes_edit_js},
    {"notes-map.js", file_notes_map_js, sizeof file_notes_map_js},
    {"notes-parts.js", file_notes_parts_js, sizeof file_notes_parts_js},
    {"notes-people.js", file_notes_people_js, sizeof file_notes_people_js},
    {"notes-place.js", file_notes_place_js, sizeof file_notes_place_js},
    {"notes-text.js", file_notes_text_js, sizeof file_notes_text_js},
    {"notes.js", file_notes_js, sizeof file_notes_js},
    {"overlay.js", file_overlay_js, sizeof file_overlay_js},
    {"own.js", file_own_js, sizeof file_own_js},
    {"pages.css", file_pages_css, sizeof file_pages_css},
    {"pair.css", file_pair_css, sizeof file_pair_css},
    {"pair.html", file_pair_html, sizeof file_pair_html},
    {"pair.js", file_pair_js, sizeof file_pair_js},
    {"palette.js", file_palette_js, sizeof file_palette_js},
    {"parts.js", file_parts_js, sizeof file_parts_js},
    {"pdf-new.js", file_pdf_new_js, sizeof file_pdf_new_js},
    {"pdf-pages.js", file_pdf_pages_js, sizeof file_pdf_pages_js},
    {"pdf-reader.js", file_pdf_reader_js, sizeof file_pdf_reader_js},
    {"pdf-speech.js", file_pdf_speech_js, sizeof file_pdf_speech_js},
    {"pdf.js", file_pdf_js, sizeof file_pdf_js},
    {"robots.txt", file_robots_txt, sizeof file_robots_txt},
    {"screen.js", file_screen_js, sizeof file_screen_js},
    {"share.js", file_share_js, sizeof file_share_js},
    {"ships.js", file_ships_js, sizeof file_ships_js},
    {"shop-cart.js", file_shop_cart_js, sizeof file_shop_cart_js},
    {"shop-list.js", file_shop_list_js, sizeof file_shop_list_js},
    {"shop.js", file_shop_js, sizeof file_shop_js},
    {"sort.js", file_sort_js, sizeof file_sort_js},
    {"status-devices.js", file_status_devices_js, sizeof file_status_devices_js},
    {"status-harness.js", file_status_harness_js, sizeof file_status_harness_js},
    {"status-recordings.js", file_status_recordings_js, sizeof file_status_recordings_js},
    {"status-requests.js", file_status_requests_js, sizeof file_status_requests_js},
    {"status-rules.js", file_status_rules_js, sizeof file_status_rules_js},
    {"status-sandbox.js", file_status_sandbox_js, sizeof file_status_sandbox_js},
    {"status.js", file_status_js, sizeof file_status_js},
    {"texts.js", file_texts_js, sizeof file_texts_js},
    {"trash.js", file_trash_js, sizeof file_trash_js},
    {"ui.js", file_ui_js, sizeof file_ui_js},
    {"worker.js", file_worker_js, sizeof file_worker_js},
    {"world.json", file_world_json, sizeof file_world_json},
};

const struct larder_web_asset *larder_web_assets(void) { return assets; }
size_t larder_web_asset_count(void) { return sizeof assets / sizeof assets[0]; }
